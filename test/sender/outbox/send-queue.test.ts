import { describe, expect, it } from 'vitest';
import { SendQueue } from '../../../packages/sender/src/outbox/send-queue.ts';

describe('calls that wait for room', () => {
  it('proceed in order, up to the first without room', () => {
    const queue = new SendQueue();
    const done: number[] = [];
    for (const bytes of [1, 2, 9, 3]) queue.add(bytes, () => done.push(bytes));
    queue.release((bytes) => bytes < 5);
    expect(done).toEqual([1, 2]);
    expect(queue.size).toBe(2);
    queue.release(() => true);
    expect(done).toEqual([1, 2, 9, 3]);
    expect(queue.size).toBe(0);
  });

  it('can give up once, and not after they have proceeded', () => {
    const queue = new SendQueue();
    const done: number[] = [];
    const [first, second] = [1, 2].map((bytes) => queue.add(bytes, () => done.push(bytes)));
    expect(first?.()).toBe(true);
    expect(first?.()).toBe(false);
    expect(queue.size).toBe(1);
    queue.release(() => true);
    expect(done).toEqual([2]);
    expect(second?.()).toBe(false);
    expect(queue.size).toBe(0);
  });

  it('keep their order when thousands come and go', () => {
    const queue = new SendQueue();
    const done: number[] = [];
    for (let n = 0; n < 10_000; n += 1) {
      queue.add(n, () => done.push(n));
      if (n % 3 === 2) queue.release((bytes) => bytes < n / 2);
    }
    queue.release(() => true);
    expect(done).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });
});

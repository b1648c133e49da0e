import type { Delivery } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import type { Favor } from '../../../packages/core/src/delivery/favor.ts';
import { FairQueue } from '../../../packages/core/src/queue/fair-queue.ts';
import type { Queued } from '../../../packages/core/src/queue/line.ts';
import { createBench, exponential, seeded } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

interface Item extends Queued<Item> {
  readonly favor: Favor;
}

const item = (key: string, favor: Favor): Item => ({
  ...{ key, favor },
  ...{ line: null, ahead: null, behind: null, older: null, younger: null },
});

/** A queue with this many deliveries of each key. Senders of keys in capitals never retry. */
function filled(keys: readonly string[], each: number): FairQueue<Item> {
  const queue = new FairQueue<Item>();
  for (let i = 0; i < each; i += 1)
    for (const key of keys) queue.push(item(key, key === key.toLowerCase() ? 'none' : 'claimed'));
  return queue;
}

/** The keys of the next starts. */
function starts(queue: FairQueue<Item>, count: number): string[] {
  return Array.from({ length: count }, () => queue.shift()?.key ?? '-');
}

const TENANTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

describe('the queue while shedding', () => {
  it('gives every second start to a sender that never retries', () => {
    const queue = filled(['G', ...TENANTS], 20);
    queue.isShedding = true;
    const order = starts(queue, 38);
    expect(order.filter((key) => key === 'G')).toHaveLength(19);
    expect(order.join('')).not.toContain('GGG');
  });

  it('gives several of them half of the starts together, in turn', () => {
    const queue = filled(['G', 'H', 'I', ...TENANTS], 20);
    queue.isShedding = true;
    const order = starts(queue, 60);
    const counts = ['G', 'H', 'I'].map((key) => order.filter((one) => one === key).length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(30);
    // Their own turns are in between.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(8);
  });

  it('gives them no more than their turns if these are more than half', () => {
    const queue = filled(['G', 'H', 'I', 'a'], 20);
    queue.isShedding = true;
    expect(starts(queue, 40).filter((key) => key === 'a')).toHaveLength(10);
  });

  it('gives them only their turns before and after', () => {
    const queue = filled(['G', ...TENANTS], 20);
    expect(starts(queue, 22)).toEqual(['G', ...TENANTS, 'G', ...TENANTS]);
    queue.isShedding = true;
    starts(queue, 10);
    queue.isShedding = false;
    expect(starts(queue, 40).filter((key) => key === 'G').length).toBeLessThanOrEqual(4);
  });

  it('decides by the next delivery if a key has both kinds', () => {
    const queue = filled(['a', 'b', 'c'], 3);
    queue.push(item('a', 'claimed'));
    queue.isShedding = true;
    expect(starts(queue, 10).join('')).toBe('abcabcaabc');
  });

  it('gives eight of ten starts to an authentic sender', () => {
    const queue = filled(TENANTS, 20);
    for (let i = 0; i < 100; i += 1) queue.push(item('G', 'authentic'));
    queue.isShedding = true;
    expect(starts(queue, 100).filter((key) => key === 'G')).toHaveLength(80);
  });

  it('gives two of ten starts to claimed ones beside an authentic one, and six to that', () => {
    const queue = filled([...TENANTS, 'F'], 50);
    for (let i = 0; i < 100; i += 1) queue.push(item('G', 'authentic'));
    queue.isShedding = true;
    const order = starts(queue, 100);
    const count = (of: string): number => order.filter((key) => key === of).length;
    expect(count('G')).toBeGreaterThanOrEqual(60);
    expect(count('F')).toBeGreaterThanOrEqual(20);
    expect(count('F') + count('G')).toBeLessThanOrEqual(81);
  });

  it('prefers an authentic sender if only such senders are queued', () => {
    const queue = filled(['F'], 100);
    for (let i = 0; i < 100; i += 1) queue.push(item('G', 'authentic'));
    queue.isShedding = true;
    expect(starts(queue, 100).filter((key) => key === 'G')).toHaveLength(80);
  });

  it.each<[Favor, number, number]>([
    ['none', 0, 11],
    ['claimed', 0, 2],
    ['claimed', 3, 8],
    ['authentic', 0, 1.25],
    ['authentic', 4, 6.25],
  ])('knows how many start before a delivery, %s behind %i of its key', (favor, ahead, most) => {
    const queue = filled(TENANTS, 20);
    for (let i = 0; i < ahead; i += 1) queue.push(item('G', favor));
    queue.isShedding = true;
    const until = queue.turnsUntil('G', 1, favor);
    expect(until).toBeCloseTo(most);
    queue.push(item('G', favor));
    const order = starts(queue, 20);
    let before = -1;
    for (let i = 0; i <= ahead; i += 1) before = order.indexOf('G', before + 1);
    expect(before + 1).toBeLessThanOrEqual(Math.ceil(most) + 1);
  });

  it('keeps a key without a free worker parked', () => {
    const queue = new FairQueue<Item>();
    queue.push(item('G', 'claimed'), true);
    queue.push(item('a', 'none'));
    queue.isShedding = true;
    expect(starts(queue, 2)).toEqual(['a', '-']);
  });
});

describe('a sender that never retries, beside ten tenants that send five times what can be handled', () => {
  async function deliver(delivery: Delivery, seed: number): Promise<number> {
    const random = seeded(seed);
    const bench = createBench({ concurrency: 10, capacity: 400, maxWaitMs: 4000 });
    const workshop = new Workshop(bench, () => exponential(random, 100));
    let brought = 0;
    for (let tenant = 0; tenant < 10; tenant += 1) {
      arrivals(
        bench.clock,
        60_000,
        () => exponential(random, 1000 / 50),
        () => void workshop.bring({ key: `tenant ${String(tenant)}` }),
      );
    }
    arrivals(
      bench.clock,
      60_000,
      () => exponential(random, 1000 / 30),
      () => {
        brought += 1;
        workshop.bring(delivery);
      },
    );
    await runUntil(bench.clock, 70_000);
    return workshop.handled.filter(({ key }) => key === 'github').length / brought;
  }

  // Its equal share is 9 of 100 a second, and it sends 30.
  it.each([1, 2, 3])('is served, seed %i', async (seed) => {
    expect(await deliver({ key: 'github' }, seed)).toBeLessThan(0.5);
    expect(await deliver({ key: 'github', retries: false }, seed)).toBeGreaterThanOrEqual(0.99);
  });
});

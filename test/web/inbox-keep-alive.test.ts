import { memoryStore } from '@webhook-backpressure/inbox';
import { until } from '@webhook-backpressure/core/testing';
import { webhookInbox, type WebhookInboxOptions } from '@webhook-backpressure/web/inbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';

describe('an inbox with workers on a platform with waitUntil', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** What keeps requests alive, and a function that receives deliveries, whose handlers wait for `finish`. */
  function receiver(): {
    stays: Promise<unknown>[];
    send: (count: number) => Promise<void>;
    finish: () => Promise<void>;
  } {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const stays: Promise<unknown>[] = [];
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const receive = webhookInbox({
      store: memoryStore(),
      verify: false,
      waitUntil: (stay) => void stays.push(stay),
      process: () => finished,
    });
    return {
      stays,
      async send(count) {
        for (let sent = 0; sent < count; sent += 1) {
          const { status } = await receive(new Request('http://x/', { method: 'POST' }));
          expect(status).toBe(200);
        }
      },
      async finish() {
        finish();
        await until(receive.inbox, ({ depth }) => depth === 0);
      },
    };
  }

  it('keeps one request alive in 10 seconds, however many arrive', async () => {
    const { stays, send, finish } = receiver();
    await send(20);
    vi.advanceTimersByTime(9000);
    await send(20);
    expect([stays.length, vi.getTimerCount()]).toEqual([1, 1]);
    vi.advanceTimersByTime(1000);
    await send(20);
    expect([stays.length, vi.getTimerCount()]).toEqual([2, 2]);
    await finish();
    vi.advanceTimersByTime(1000);
    await Promise.all(stays);
    expect(vi.getTimerCount()).toBe(0);
    await send(1);
    expect(stays).toHaveLength(3);
  });

  it('keeps no request alive for longer than 15 minutes', async () => {
    const { stays, send } = receiver();
    await send(1);
    vi.advanceTimersByTime(15 * 60_000);
    await stays[0];
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['processBatch', { processBatch: () => new Promise<void>(() => undefined) }, 1],
    ['on', { on: { other: () => new Promise<void>(() => undefined) } }, 1],
    ['no workers', {}, 0],
  ])('keeps a request alive with %s: %j', async (_, workers, count) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const stays: Promise<unknown>[] = [];
    const options = {
      store: new MemoryStore(new MemoryState()),
      verify: false,
      waitUntil: (stay: Promise<unknown>) => void stays.push(stay),
    };
    const receive = webhookInbox({ ...options, ...workers } as WebhookInboxOptions);
    await receive(new Request('http://x/', { method: 'POST' }));
    expect(stays).toHaveLength(count);
  });
});

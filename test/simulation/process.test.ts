import { describe, expect, it } from 'vitest';
import { manualClock } from '@webhook-backpressure/core/testing';
import { EventLoop, simulate } from '@webhook-backpressure/planner/parts';

/** Three deliveries, 0.1 s apart, for one worker that needs 1 s for each. */
const small = {
  intake: { capacity: 5, concurrency: 1 },
  service: { meanMs: 1000 },
  arrivals: [{ fromS: 0, toS: 0.3, perSecond: 10 }],
  senders: [{ key: 'shop', retry: 'fixed:10' }],
};

describe('the event loop', () => {
  it('delays timers while it is frozen', () => {
    const manual = manualClock();
    const loop = new EventLoop(manual, [{ fromS: 1, toS: 3 }]);
    const rung: number[] = [];
    loop.clock.setTimeout(() => rung.push(manual.now()), 500);
    loop.clock.setTimeout(() => rung.push(manual.now()), 1500);
    manual.advance(5000);
    expect(rung).toEqual([500, 3000]);
    expect([999, 1000, 2999, 3000].map((ms) => loop.awakeAt(ms))).toEqual([999, 3000, 3000, 3000]);
  });

  it('works longer if it is frozen meanwhile, and fires no timer', () => {
    const manual = manualClock();
    const loop = new EventLoop(manual, [{ fromS: 1, toS: 3 }]);
    const rung: number[] = [];
    loop.clock.setTimeout(() => rung.push(manual.now()), 200);
    loop.work(1500);
    expect([manual.now(), rung]).toEqual([3500, []]);
    loop.fireTimers();
    expect(rung).toEqual([3500]);
  });
});

describe('a process that takes time', () => {
  it('takes none by default', async () => {
    const plain = await simulate(small);
    const free = await simulate({ ...small, process: {} });
    expect(free.results).toEqual(plain.results);
  });

  it('takes time for each request, each start and each end', async () => {
    // 10 ms to accept, and for each delivery 5 ms to start, 1 s to handle, and 5 ms to end.
    const { results } = await simulate({ ...small, process: { acceptMs: 10, handleMs: 5 } });
    expect(results).toMatchObject({ delivered: 3, attemptsPerEvent: 1 });
    expect(results.clearS).toBeCloseTo(0.01 + 3 * (0.005 + 1 + 0.005), 6);
  });

  it('answers no request while it is frozen, and handles one whose sender has timed out', async () => {
    const senders = [{ key: 'shop', retry: 'fixed:10', timeoutMs: 1500 }];
    const process = { freeze: [{ fromS: 0.5, toS: 2 }] };
    const { results, seen } = await simulate({ ...small, senders, process });
    // The first sender times out at 1.5 s. The handling ends at 1 s, but the process only sees that at 2 s.
    expect(results).toMatchObject({ delivered: 3, lost: 0 });
    expect(seen.attempts[0]).toBe(2);
    expect(seen.busyFromMs.length).toBeGreaterThan(3);
  });
});

describe('the plain queue', () => {
  it('refuses when it is full, without Retry-After', async () => {
    const { results, seen } = await simulate({
      ...small,
      policy: 'queue',
      intake: { capacity: 1, concurrency: 1 },
      senders: [{ key: 'shop', retry: 'retry-after:4' }],
    });
    expect([...seen.refusals]).toEqual([0, 0, 1]);
    expect(results.clearS).toBeGreaterThan(0.2 + 3.2);
    expect(results.clearS).toBeLessThan(0.2 + 4.8 + 1.001);
  });

  it('has no deadline, and handles deliveries whose sender has timed out', async () => {
    const { results, seen } = await simulate({
      ...small,
      policy: 'queue',
      senders: [{ key: 'shop', retry: 'fixed:10', timeoutMs: 1500 }],
    });
    expect(results).toMatchObject({ delivered: 3, maxAttempts: 3 });
    expect(seen.busyFromMs).toHaveLength(6);
  });
});

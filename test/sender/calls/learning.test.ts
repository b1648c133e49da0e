import { describe, expect, it } from 'vitest';
import { LearningPace } from '../../../packages/sender/src/pace/learning-pace.ts';
import { RefusalCap } from '../../../packages/sender/src/pace/refusal-cap.ts';
import { perSecondOf } from '../../../packages/sender/src/options/rates.ts';
import { TokenLevel } from '@webhook-backpressure/fleet';
import { answer, API, bed, Outcomes, type Bed } from './bed.ts';

/** Lets an API allow so many calls per second, with a burst of 5. */
function allow(api: Bed, perSecond: number): { refused: number } {
  const level = new TokenLevel({ amount: perSecond, periodMs: 1000, burst: 5 }, api.clock.now());
  const seen = { refused: 0 };
  api.reply = () => {
    if (level.take(1, api.clock.now()) === 1) return answer(200);
    seen.refused += 1;
    return answer(429, { 'retry-after': '1' });
  };
  return seen;
}

/** Calls at 150 per second. Returns the requests per second. */
async function load(api: Bed, seconds: number): Promise<number> {
  const calls = new Outcomes();
  const before = api.starts.length;
  for (let left = seconds * 50; left > 0; left -= 1) {
    for (let at = 0; at < 3; at += 1) calls.add(api.fetch(API));
    await api.pass(20);
  }
  return (api.starts.length - before) / seconds;
}

describe('the pace of a limited fetch', () => {
  it('falls to the rate of an API that allows less than its documentation says, and recovers', async () => {
    const api = bed({ limits: { [API]: { perSecond: 125 } } });
    let seen = allow(api, 30);
    // While it learns, three quarters of what the API allows.
    expect(await load(api, 40)).toBeGreaterThan(22);
    expect(seen.refused).toBeLessThan(12);
    seen = allow(api, 1000);
    // A rate that was confirmed so often is searched above after a while.
    await load(api, 25);
    expect(await load(api, 10)).toBeGreaterThan(95);
    expect(seen.refused).toBe(0);
  }, 30_000);

  it('halves the calls in flight at a refusal, once for all that were in flight, and restores them', () => {
    const cap = new RefusalCap(100);
    const pace = new LearningPace({ amount: 100, periodMs: 1000, burst: 20 }, 100, { cap });
    cap.refused(10, 20, 50);
    cap.refused(20, 20, 51);
    expect(pace.maxInFlight).toBe(10);
    pace.set({ amount: 100, periodMs: 1000, burst: 20 }, 90);
    expect(pace.maxInFlight).toBe(10);
    cap.setMax(100);
    let successes = 0;
    for (let nowMs = 100; pace.maxInFlight < 100; nowMs += 1) {
      pace.succeeded(nowMs, 0, pace.maxInFlight, undefined, nowMs);
      successes += 1;
    }
    // One more for each round: 10 + 11 + … + 99.
    expect(successes).toBe((90 * (10 + 99)) / 2);
    cap.setMax(50);
    expect(cap.value).toBe(50);
    cap.setMax(200);
    expect(cap.value).toBe(200);
  });

  it('takes a refusal of a limit that is shared as one at the whole rate, so that it falls by less', () => {
    const limit = { amount: 100, periodMs: 1000, burst: 20 };
    for (const [sharers, least] of [
      [1, 0],
      [4, 60],
    ] as const) {
      const pace = new LearningPace(limit, 100, { sharers: () => sharers });
      // This process makes a quarter of the calls.
      for (let nowMs = 0; nowMs < 1000; nowMs += 40) {
        pace.started(nowMs);
        pace.succeeded(nowMs, 0, 5, undefined, nowMs);
      }
      pace.limited(1000, 1000, undefined, 1000);
      expect(perSecondOf(pace.limit)).toBeGreaterThan(least);
      expect(perSecondOf(pace.limit)).toBeLessThan(80);
    }
  });

  it.each([
    { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3' },
    { 'ratelimit-policy': '"default";q=100;w=60', ratelimit: '"default";r=0;t=3' },
    { ratelimit: 'limit=100, remaining=0, reset=3' },
    {
      date: 'Sat, 28 Nov 2026 00:00:00 GMT',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1795824003',
    },
  ])('waits until the reset when nothing is left: %j', async (headers) => {
    const api = bed({ limits: { [API]: { perSecond: 100 } } });
    api.reply = () => answer(200, headers);
    await api.fetch(API);
    const calls = new Outcomes();
    calls.add(api.fetch(API));
    await api.pass(2999);
    expect(api.starts).toHaveLength(1);
    await api.pass(1);
    expect(calls.ok).toBe(1);
  });

  it('takes a 403 of a used-up limit as a refusal, as GitHub sends it, and no other 403', async () => {
    const api = bed({ limits: { [API]: { perSecond: 100 } } });
    const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1200' };
    api.reply = () => answer(403, reset);
    await expect(api.fetch(API)).rejects.toThrow(
      expect.objectContaining({ name: 'RetryAfter', seconds: 1200 }) as Error,
    );
    const other = bed({ limits: { [API]: { perSecond: 100 } } });
    other.reply = () => answer(403, { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1200' });
    expect((await other.fetch(API)).status).toBe(403);
  });

  it('names at most a day', async () => {
    const api = bed({ limits: { [API]: { perSecond: 100 } }, random: () => 0.99 });
    api.reply = () => answer(429, { 'retry-after': '999999999' });
    await expect(api.fetch(API)).rejects.toThrow(expect.objectContaining({ seconds: 86_400 }) as Error);
  });
});

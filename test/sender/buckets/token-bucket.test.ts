import { getEventListeners } from 'node:events';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { tokenBucket, type TokenBucket } from '@webhook-backpressure/sender';

const SECOND_MS = 1000;

function bed(perSecond = 10, burst = 3): { clock: ManualClock; bucket: TokenBucket } {
  const clock = manualClock(5_000);
  return { clock, bucket: tokenBucket({ perSecond, burst, clock }) };
}

/** Lets reactions of settled promises run. */
async function turn(): Promise<void> {
  for (let at = 0; at < 10; at += 1) await Promise.resolve();
}

describe('tokenBucket', () => {
  it('gives its burst, then a token after the time that it named', () => {
    const { clock, bucket } = bed();
    expect([bucket.take(), bucket.take(2)]).toEqual([{ ok: true }, { ok: true }]);
    expect(bucket.take()).toEqual({ ok: false, waitMs: 100 });
    clock.advance(99.999);
    expect(bucket.take()).toEqual({ ok: false, waitMs: 0.001 });
    clock.advance(0.001);
    expect(bucket.take()).toEqual({ ok: true });
  });

  it('takes all or none', () => {
    const { bucket } = bed();
    bucket.take();
    expect(bucket.take(3)).toEqual({ ok: false, waitMs: 100 });
    expect(bucket.tokens).toBe(2);
    expect(bucket.take(2)).toEqual({ ok: true });
  });

  it('takes the time from its caller', () => {
    const bucket = tokenBucket({ perMinute: 1, burst: 1 });
    const nowMs = performance.now() + 120_000;
    bucket.take(1, nowMs);
    expect(bucket.take(1, nowMs)).toEqual({ ok: false, waitMs: 60_000 });
    expect(bucket.take(1, nowMs + 60_000)).toEqual({ ok: true });
  });

  it('lets no time pass when its clock is set back', () => {
    const { clock, bucket } = bed();
    bucket.take(3);
    clock.jump(-4_000);
    expect(bucket.take()).toEqual({ ok: false, waitMs: 100 });
    clock.advance(100);
    expect(bucket.take()).toEqual({ ok: true });
  });

  it('serves waiting calls in their order, and before later calls of take', async () => {
    const { clock, bucket } = bed();
    bucket.take(3);
    const served: string[] = [];
    for (const [name, count] of [
      ['a', 2],
      ['b', 1],
      ['c', 3],
    ] as const)
      void bucket.wait(count).then(() => served.push(name));
    await turn();
    expect(bucket.take()).toEqual({ ok: false, waitMs: 700 });
    clock.advance(199);
    await turn();
    expect(served).toEqual([]);
    clock.advance(1);
    await turn();
    expect(served).toEqual(['a']);
    clock.advance(100);
    await turn();
    expect(served).toEqual(['a', 'b']);
    clock.advance(300);
    await turn();
    expect(served).toEqual(['a', 'b', 'c']);
    expect(bucket.take()).toEqual({ ok: false, waitMs: 100 });
    expect(clock.pending).toBe(0);
  });

  it('lets the next call proceed when a waiting one is aborted', async () => {
    const { clock, bucket } = bed();
    bucket.take(3);
    const controller = new AbortController();
    const aborted = bucket.wait(3, { signal: controller.signal });
    const next = bucket.wait(1);
    clock.advance(100);
    controller.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    await next;
    expect(clock.pending).toBe(0);
    await expect(bucket.wait(1, { signal: controller.signal })).rejects.toThrow('gone');
    expect(bucket.take()).toEqual({ ok: false, waitMs: 100 });
  });

  it('serves calls one after the other, and listens to a signal only while a call waits', async () => {
    const { bucket } = bed();
    const { signal } = new AbortController();
    await bucket.wait(1, { signal });
    await bucket.wait(1, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(bucket.tokens).toBe(1);
  });

  it('keeps saved tokens and waiting calls when its limit changes', async () => {
    const { clock, bucket } = bed();
    bucket.take(3);
    clock.advance(150);
    bucket.update({ perSecond: 1, burst: 3 });
    expect(bucket.tokens).toBe(1);
    clock.advance(500);
    expect(bucket.tokens).toBe(2);
    const tooMany = bucket.wait(3);
    const wait = bucket.wait(1);
    bucket.update({ perSecond: 1000, burst: 2 });
    await expect(tooMany).rejects.toThrow(expect.objectContaining({ code: 'ERR_WBP_TOKENS' }) as Error);
    await wait;
    expect(bucket.tokens).toBe(1);
  });

  it('shows no tokens while calls wait for them, and keeps the process alive for the first', async () => {
    const clock = manualClock();
    let held = 0;
    const bucket = tokenBucket({
      perSecond: 1,
      burst: 3,
      clock: {
        now: () => clock.now(),
        setTimeout: (action, ms) => {
          const timer = clock.setTimeout(action, ms);
          return { timer, ref: () => (held += 1) };
        },
        clearTimeout: (handle) => {
          clock.clearTimeout((handle as { timer: unknown }).timer);
        },
      },
    });
    bucket.take(2);
    const waits = [bucket.wait(3), bucket.wait(3)];
    expect(bucket.tokens).toBe(0);
    expect(held).toBe(1);
    clock.advance(2000);
    await waits[0];
    clock.advance(3000);
    await waits[1];
    expect(bucket.tokens).toBe(0);
  });

  it('saves the tokens of five seconds by default, and at least one', () => {
    expect(tokenBucket({ perSecond: 10 }).tokens).toBe(50);
    expect(tokenBucket({ perMinute: 1 }).tokens).toBe(1);
  });

  it('refuses invalid options and arguments with a code', async () => {
    const create = (options: object) => () => tokenBucket(options);
    const coded = (code: string): Error => expect.objectContaining({ code }) as Error;
    for (const options of [{}, { perSecond: 0 }, { perSecond: 1, perMinute: 1 }, { perSecond: NaN }])
      expect(create(options)).toThrow(coded('ERR_WBP_RATE'));
    for (const burst of [0, 1.5, '3', 1_000_001])
      expect(create({ perSecond: 1, burst })).toThrow(coded('ERR_WBP_RATE'));
    expect(create({ perSecond: 1, clock: {} })).toThrow(coded('ERR_WBP_CLOCK'));
    expect(create({ perSecond: 1, brust: 3 })).toThrow(coded('ERR_WBP_UNKNOWN_OPTION'));
    const { bucket } = bed();
    for (const count of [0, 4, 1.5, NaN, '1'])
      expect(() => bucket.take(count as number)).toThrow(coded('ERR_WBP_TOKENS'));
    expect(() => bucket.take(1, NaN)).toThrow(coded('ERR_WBP_TOKENS'));
    await expect(bucket.wait(4)).rejects.toThrow(coded('ERR_WBP_TOKENS'));
    expect(() => {
      bucket.update({ perSecond: -1 });
    }).toThrow(coded('ERR_WBP_RATE'));
    const misspelt = { perSecond: 1, brust: 3 };
    expect(() => {
      bucket.update(misspelt);
    }).toThrow(coded('ERR_WBP_UNKNOWN_OPTION'));
    expect(bucket.take(3)).toEqual({ ok: true });
  });

  it('gives the exact number of tokens in a month of polls', () => {
    const clock = manualClock();
    const bucket = tokenBucket({ perMinute: 7, burst: 2, clock });
    let taken = 0;
    const monthMs = 30 * 24 * 3_600 * SECOND_MS;
    while (clock.now() < monthMs + 1) {
      const result = bucket.take();
      if (result.ok) taken += 1;
      else clock.advance(result.waitMs);
    }
    expect(taken).toBe(2 + 7 * 30 * 24 * 60);
  });
});

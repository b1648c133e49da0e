import { describe, expect, it } from 'vitest';
import { deliver, type Attempt } from '../../demo/src/delivery.ts';
import { retryAfterMs } from '../../demo/src/retry-after.ts';

const habits = { backoffMs: [500, 1000, 2000], jitter: 0 };

/** Answers attempt after attempt with these; a pair is a status and its Retry-After in milliseconds. */
async function attempted(
  answers: (Attempt['answer'] | [status: number, retryAfterMs: number])[],
  jitter = 0,
): Promise<{ delivered: boolean; waits: number[]; left: number }> {
  const left = [...answers];
  const waits: number[] = [];
  const send = (): Promise<Attempt> => {
    const next = left.shift() ?? 'connection lost';
    const [answer, wait] = Array.isArray(next) ? next : [next, undefined];
    return Promise.resolve({ answer, tookMs: 1, retryAfterMs: wait });
  };
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return { delivered: await deliver(send, { ...habits, jitter }, wait), waits, left: left.length };
}

describe('a sender', () => {
  it('stops at the first 2xx', async () => {
    expect(await attempted([204, 204])).toEqual({ delivered: true, waits: [], left: 1 });
  });

  it('waits as long as Retry-After says, and by its own habit when nothing is said', async () => {
    const { delivered, waits } = await attempted([[503, 7000], 'timed out', [429, 1000], 204]);
    expect({ delivered, waits }).toEqual({ delivered: true, waits: [7000, 1000, 1000] });
  });

  it('counts a refusal as an attempt and gives up after four', async () => {
    const { delivered, waits, left } = await attempted([[503, 1000], 500, 'connection lost', 500, 204]);
    expect({ delivered, waits, left }).toEqual({ delivered: false, waits: [1000, 1000, 2000], left: 1 });
  });

  it('takes a redirect or a client error for a failure', async () => {
    expect((await attempted([301, 400, 199, 300])).delivered).toBe(false);
  });

  it('spreads its own waits, and never those it was told', async () => {
    const { waits } = await attempted([[503, 3000], 500, 500, 204], 0.2);
    expect(waits[0]).toBe(3000);
    expect(waits[1]).toBeGreaterThanOrEqual(800);
    expect(waits[1]).toBeLessThanOrEqual(1200);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-04-01T12:00:00Z');

  it.each([
    ['12', 12_000],
    ['0', 0],
    [' 3 ', 3000],
    ['Wed, 01 Apr 2026 12:00:05 GMT', 5000],
    ['Wed, 01 Apr 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('%j is %j', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});

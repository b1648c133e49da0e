import { describe, expect, it } from 'vitest';
import { namedDelayMs, retryDelayMs } from '../../../packages/sender/src/dispatch/outcomes.ts';
import { ClaimBed } from './claim-bed.ts';

const RETRY = { attempts: 20, firstDelayMs: 5000, maxDelayMs: 3_600_000, maxAgeMs: 86_400_000 };
const least = (): number => 0;
const most = (): number => 1;

describe('the delay after a failure', () => {
  it.each([
    [1, 5000],
    [2, 10_000],
    [4, 40_000],
    [20, 3_600_000],
    [5000, 3_600_000],
  ])('after attempt %i is any up to %i ms', (attempt, longestMs) => {
    expect(retryDelayMs(attempt, RETRY, most)).toBe(longestMs);
    expect(retryDelayMs(attempt, RETRY, least)).toBe(0);
  });

  it('is none if the first one is none', () => {
    expect(retryDelayMs(5000, { ...RETRY, firstDelayMs: 0 }, most)).toBe(0);
  });
});

describe('the delay after a refusal', () => {
  it.each([
    [0, 0],
    [1000, 1100],
    [10_000, 11_000],
    [20_000, 22_000],
    [86_400_000, 86_402_000],
  ])('of %i ms is at least that, and at most %i ms', (waitMs, longestMs) => {
    expect(namedDelayMs(waitMs, least)).toBe(waitMs);
    expect(namedDelayMs(waitMs, most)).toBe(longestMs);
  });
});

describe('a retry', () => {
  it('is not overlooked when the failure is stored during a claim', async () => {
    const retry = { firstDelayMs: 5000, maxDelayMs: 5000 };
    const of: ClaimBed = new ClaimBed(
      async ({ id }) => {
        if (id !== 'e0') return new Response(null, { status: 204 });
        await of.bed.later(1000);
        return new Response(null, { status: 500 });
      },
      {},
      { retry },
    );
    const { bed } = of;
    await of.sendAll(0, 1);
    await bed.run(500);
    await of.claiming(1, 2);
    await bed.run(1000);
    expect(of.gated.claims).toHaveLength(2);
    await of.claimed();
    await bed.run(6000);
    expect(bed.requests.slice(0, 3).map(({ id }) => id)).toEqual(['e0', 'e1', 'e0']);
  });
});

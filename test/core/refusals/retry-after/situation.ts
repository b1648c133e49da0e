import {
  RetryAfter,
  type Refused,
  type RetryAfterSettings,
  type Situation,
} from '../../../../packages/core/src/refusals/retry-after.ts';
import { seeded } from '../../harness.ts';

export const SETTINGS: RetryAfterSettings = { strategy: 'booked', minSeconds: 1, maxSeconds: 900 };

/**
 * A burst: 800 wait, the door opens again at 500, and 100 a second are worked off, as they have been for five minutes.
 * So it opens in three seconds.
 */
export function situation(nowMs: number, changes: Partial<Situation> = {}): Situation {
  const burst = { depth: 800, low: 500, drainRate: 100, steadyRate: 100, paceAgeS: 300, lateShare: 0 };
  return { nowMs, ...burst, isStalled: false, gapMs: 0, gapFactor: 1, ...changes };
}

export function refused(changes: Partial<Refused> = {}): Refused {
  return { key: 'shop', id: undefined, maxWaitMs: undefined, habit: undefined, ...changes };
}

export function createRetryAfter(seed = 1): RetryAfter {
  return new RetryAfter(seeded(seed));
}

/** How many of these times, in ms, lie in each second, from the first that has one. */
export function countPerSecond(times: readonly number[]): number[] {
  const seconds = times.map((ms) => Math.floor(ms / 1000));
  const first = Math.min(...seconds);
  const counts = new Array<number>(Math.max(...seconds) - first + 1).fill(0);
  for (const second of seconds) counts[second - first] = (counts[second - first] ?? 0) + 1;
  return counts;
}

import type { SenderProfile } from '@webhook-backpressure/senders';
import { RetryAfterSeconds, type Situation } from '@webhook-backpressure/core/extend';
import type { Refused, RetryAfterSettings } from '../../../../packages/core/src/refusals/situation.ts';
import { seeded } from '../../harness.ts';

export const SETTINGS: RetryAfterSettings = { strategy: 'booked', minSeconds: 1, maxSeconds: 900 };

/**
 * A burst: 800 deliveries are queued, shedding ends at 500, and the queue has drained at 100/s for five minutes. So
 * shedding ends in three seconds.
 */
export function situation(nowMs: number, changes: Partial<Situation> = {}): Situation {
  const burst = { depth: 800, low: 500, drainRate: 100, presentRate: 100, paceAgeS: 300, lateShare: 0 };
  return { nowMs, ...burst, isStalled: false, gapMs: 0, gapFactor: 1, ...changes };
}

interface Changes extends Omit<Refused, 'arrival'> {
  readonly key?: string;
  readonly id?: string | undefined;
  readonly habit?: SenderProfile['retryAfter'];
}

export function refused({ key = 'shop', id, habit, ...rest }: Changes = {}, nowMs = 0): Refused {
  const sender = { name: 'x', match: { header: 'x' }, source: 'x', verifiedAt: '2026-11-20' };
  const profile = habit === undefined ? undefined : { ...sender, retryAfter: habit };
  return { arrival: { delivery: { key, id, profile }, key, nowMs }, ...rest };
}

export function createRetryAfter(seed = 1): RetryAfterSeconds {
  return new RetryAfterSeconds(seeded(seed));
}

/** Counts these times, in ms, per second, from the first second that has one. */
export function countPerSecond(times: readonly number[]): number[] {
  const seconds = times.map((ms) => Math.floor(ms / 1000));
  const first = Math.min(...seconds);
  const counts = new Array<number>(Math.max(...seconds) - first + 1).fill(0);
  for (const second of seconds) counts[second - first] = (counts[second - first] ?? 0) + 1;
  return counts;
}

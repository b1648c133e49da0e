import type { Refused, RetryAfterSettings, Situation } from './situation.ts';

/**
 * How many deliveries must be handled before this one would be admitted: until the depth is at the low-water mark, and
 * until its turn would come within the time its sender waits.
 */
export function untilOpen(
  { maxWaitMs, turns }: Refused,
  { depth, low }: Situation,
  drainRate: number,
): number {
  if (maxWaitMs === undefined) return Math.max(0, depth - low);
  const inTime = Math.floor((maxWaitMs / 1000) * drainRate);
  return Math.max(0, depth - low, Math.min(depth, (turns ?? depth + 1) - inTime));
}

export function boundsOf(
  { minSeconds, maxSeconds }: RetryAfterSettings,
  habit: Refused['habit'],
): { minSeconds: number; maxSeconds: number } {
  if (habit === undefined || habit === 'ignored') return { minSeconds, maxSeconds };
  const max = Math.max(1, Math.floor(Math.min(maxSeconds, habit.maxSeconds ?? maxSeconds)));
  return {
    minSeconds: Math.min(max, Math.ceil(Math.max(minSeconds, habit.minSeconds ?? 0))),
    maxSeconds: max,
  };
}

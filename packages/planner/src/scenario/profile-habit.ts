import type { FailedAttempt, RetryAfterHabit, SenderProfile } from '@webhook-backpressure/senders';
import { spread, type Failure, type Habit } from './habits.ts';

/** The schedule of a sender that publishes none: exponential backoff from 10 s to an hour. */
const ASSUMED_STEPS_S = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600];
/** And how long it retries if it does not publish that either. */
const ASSUMED_WINDOW_S = 86_400;
/** A last step of 0 would repeat forever at the same time. */
const LEAST_REPEATED_S = 1;
/** What a profile does not say, because a receiver gets nothing from it: Svix waits at least a minute after a 429. */
const FLOOR_AFTER_429_S: ReadonlyMap<string, number> = new Map([['svix', 60]]);

/**
 * Retries as the profile says: its schedule, ±20 % at random, until its attempts or its window are used up. A
 * Retry-After that the sender honors replaces the step, without the spread unless it is clamped to the step.
 */
export function profileHabit(profile: SenderProfile): Habit {
  const { retries, retryAfter } = profile;
  if (retries === 'none') return () => undefined;
  const { stepsS, maxAttempts, windowS, after } = planOf(profile);
  const listed = listedWithin(stepsS, windowS);
  const floorS = FLOOR_AFTER_429_S.get(profile.name) ?? 0;
  return (failure, random) => {
    const { attempts, ageS, status } = failure;
    if (attempts >= maxAttempts || !retriesAfter(after, status)) return undefined;
    const stepS = stepOf(stepsS, attempts);
    const honoredS = honored(retryAfter, failure, stepS);
    const isExact = typeof retryAfter !== 'object' || retryAfter.steps === undefined;
    const leastS = status === 429 ? floorS : 0;
    const delayS =
      honoredS !== undefined && isExact
        ? Math.max(leastS, honoredS)
        : spread(Math.max(leastS, honoredS ?? stepS), random);
    // The spread must not push the last step of the schedule out of a window that ends with it.
    const isListed = honoredS === undefined && attempts <= listed;
    return isListed || ageS + delayS <= windowS ? delayS : undefined;
  };
}

interface Plan {
  readonly stepsS: readonly number[];
  readonly maxAttempts: number;
  readonly windowS: number;
  readonly after: readonly FailedAttempt[] | undefined;
}

function planOf({ retries }: SenderProfile): Plan {
  const { scheduleS, maxAttempts, windowS, after } = typeof retries === 'object' ? retries : {};
  const isOpen = maxAttempts === undefined && windowS === undefined;
  const attemptsOfSchedule = scheduleS === undefined ? Infinity : scheduleS.length + 1;
  return {
    stepsS: scheduleS === undefined || scheduleS.length === 0 ? ASSUMED_STEPS_S : scheduleS,
    maxAttempts: maxAttempts ?? (isOpen ? attemptsOfSchedule : Infinity),
    windowS: windowS ?? (isOpen && scheduleS === undefined ? ASSUMED_WINDOW_S : Infinity),
    after,
  };
}

function retriesAfter(after: readonly FailedAttempt[] | undefined, status: number | undefined): boolean {
  if (after === undefined) return true;
  if (status === undefined) return after.includes('timeout');
  return after.some((one) => one === status);
}

/** How many steps of the schedule lie within the window. */
function listedWithin(stepsS: readonly number[], windowS: number): number {
  let ageS = 0;
  const beyond = stepsS.findIndex((stepS) => (ageS += stepS) > windowS);
  return beyond === -1 ? stepsS.length : beyond;
}

function stepOf(stepsS: readonly number[], attempts: number): number {
  const last = stepsS.at(-1) as number;
  return stepsS[attempts - 1] ?? Math.max(LEAST_REPEATED_S, last);
}

/** The Retry-After as the sender makes use of it; undefined if it has none, or ignores it. */
function honored(
  habit: RetryAfterHabit | 'ignored' | undefined,
  { retryAfterS }: Failure,
  stepS: number,
): number | undefined {
  if (habit === 'ignored' || retryAfterS === undefined) return undefined;
  const { minSeconds = 0, maxSeconds = Infinity, steps } = habit ?? {};
  const boundedS = Math.min(maxSeconds, Math.max(minSeconds, retryAfterS));
  if (steps === undefined) return boundedS;
  return Math.min(steps.max * stepS, Math.max(steps.min * stepS, boundedS));
}

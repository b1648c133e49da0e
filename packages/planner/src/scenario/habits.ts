import type { FailedAttempt, RetryAfterHabit, SenderProfile } from '@webhook-backpressure/senders';
import type { Random } from '../base/numbers.ts';
import { mistake } from './fields.ts';

/** What a sender knows after a failed attempt. */
export interface Failure {
  /** Attempts made so far, at least 1. */
  readonly attempts: number;
  /** Retry-After; undefined without an answer. */
  readonly retryAfterS: number | undefined;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  /** Seconds since the first attempt. */
  readonly ageS: number;
}

/** Returns the seconds until the next attempt; undefined if the sender gives up. */
export type Habit = (failure: Failure, random: Random) => number | undefined;

const SPREAD = 0.2;
const SVIX_STEPS_S = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];
/** The minimum wait of Svix after a 429. */
const SVIX_FLOOR_S = 60;

const RULE =
  '"retry-after", "retry-after:S,S,…", "fixed:S", "exponential:FIRST:FACTOR:MAX", "schedule:S,S,…", "svix" or "none", ' +
  'with S, FIRST and MAX above 0 and FACTOR at least 1';

/** Parses the `retry` of a sender. */
export function parseHabit(path: string, text: string): Habit {
  const [name = '', ...parameters] = text.split(':');
  const habit = habitOf(name, parameters);
  if (habit === undefined) throw mistake(path, RULE, text);
  return habit;
}

function habitOf(name: string, parameters: readonly string[]): Habit | undefined {
  const [first, factor, max] = parameters.map(positive);
  switch (`${name}/${String(parameters.length)}`) {
    case 'retry-after/0':
      return honoring(exponentialBackoff(5, 2, 3600));
    case 'retry-after/1': {
      const steps = stepsOf(parameters[0] as string);
      return steps === undefined ? undefined : honoring(schedule(steps));
    }
    case 'fixed/1':
      return first === undefined ? undefined : (): number => first;
    case 'exponential/3':
      if (first === undefined || factor === undefined || max === undefined || factor < 1) return undefined;
      return exponentialBackoff(first, factor, max);
    case 'schedule/1': {
      const steps = stepsOf(parameters[0] as string);
      return steps === undefined ? undefined : schedule(steps);
    }
    case 'svix/0':
      return svix;
    case 'none/0':
      return () => undefined;
    default:
      return undefined;
  }
}

/** Honors Retry-After. Without it, uses the sender's backoff for broken connections. */
function honoring(fallback: Habit): Habit {
  return (failure, random) => failure.retryAfterS ?? fallback(failure, random);
}

function exponentialBackoff(firstS: number, factor: number, maxS: number): Habit {
  return ({ attempts }, random) => {
    let delayS = firstS;
    for (let failed = 1; failed < attempts && delayS < maxS && factor > 1; failed += 1) delayS *= factor;
    return spread(Math.min(maxS, delayS), random);
  };
}

function schedule(stepsS: readonly number[]): Habit {
  return ({ attempts }, random) => spread(stepOf(stepsS, attempts), random);
}

const svix: Habit = ({ attempts, retryAfterS, status }, random) => {
  const stepS = stepOf(SVIX_STEPS_S, attempts);
  const clampedS = Math.min(2 * stepS, Math.max(stepS, retryAfterS ?? stepS));
  return spread(status === 429 ? Math.max(SVIX_FLOOR_S, clampedS) : clampedS, random);
};

function stepsOf(text: string): number[] | undefined {
  const steps = text.split(',').map(positive);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/** The last step repeats, up to `maxAttempts`. */
function stepOf(stepsS: readonly number[], attempts: number): number {
  return stepsS[Math.min(attempts, stepsS.length) - 1] as number;
}

/** At random up to 20 % less or more. */
function spread(delayS: number, random: Random): number {
  return delayS * (1 - SPREAD + 2 * SPREAD * random());
}

function positive(text: string): number | undefined {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  return value > 0 && Number.isFinite(value) ? value : undefined;
}

/** The schedule of a sender that publishes none: exponential backoff from 10 s to an hour. */
const ASSUMED_STEPS_S = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600];
/** And how long it retries if it does not publish that either. */
const ASSUMED_WINDOW_S = 86_400;
/** A last step of 0 would repeat forever at the same time. */
const MIN_REPEATED_S = 1;
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
    const stepS = stepsS[attempts - 1] ?? Math.max(MIN_REPEATED_S, stepsS.at(-1) as number);
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
  // A profile has 503 for all of 500 to 599, since a receiver sends no other.
  return after.some((one) => one === (status >= 500 ? 503 : status));
}

/** How many steps of the schedule lie within the window. */
function listedWithin(stepsS: readonly number[], windowS: number): number {
  let ageS = 0;
  const beyond = stepsS.findIndex((stepS) => (ageS += stepS) > windowS);
  return beyond === -1 ? stepsS.length : beyond;
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

import { mistake } from './fields.ts';
import type { Random } from '../base/random.ts';

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
export function spread(delayS: number, random: Random): number {
  return delayS * (1 - SPREAD + 2 * SPREAD * random());
}

function positive(text: string): number | undefined {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  return value > 0 && Number.isFinite(value) ? value : undefined;
}

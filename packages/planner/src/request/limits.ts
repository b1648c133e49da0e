import { aNumber, type Rule } from '../scenario/fields.ts';

const DAY_MS = 86_400_000;

type Limited =
  | ('share' | 'perSecond' | 'events' | 'seconds' | 'serviceMs' | 'waitMs')
  | ('concurrency' | 'receivers' | 'capacity' | 'seed');

/** The ranges of a request, in words and as checks. The command line has the same. */
export const LIMITS: Readonly<Record<Limited, Rule<number>>> = {
  share: aNumber('a number above 0', (value) => value > 0),
  perSecond: aNumber('a number from 0 to 1000000', (value) => value >= 0 && value <= 1_000_000),
  events: anInteger(1, 2_000_000),
  seconds: aNumber('a number of seconds from 0.001 to 86400', (s) => s >= 0.001 && s <= 86_400),
  serviceMs: aNumber('a number of milliseconds above 0, at most 86400000', (ms) => ms > 0 && ms <= DAY_MS),
  waitMs: aNumber('a number of milliseconds from 1 to 86400000', (ms) => ms >= 1 && ms <= DAY_MS),
  concurrency: anInteger(1, 10_000),
  receivers: anInteger(1, 64),
  capacity: anInteger(1, 1_000_000_000),
  seed: anInteger(0, Number.MAX_SAFE_INTEGER),
};

function anInteger(least: number, most: number): Rule<number> {
  const words = `an integer from ${String(least)} to ${String(most)}`;
  return aNumber(words, (value) => Number.isSafeInteger(value) && value >= least && value <= most);
}

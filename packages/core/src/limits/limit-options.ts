import type { ConcurrencyRange } from './adaptive-concurrency.ts';
import type { RateRange } from './adaptive-rate.ts';
import { checkInteger, checkNumber, DAY_MS, isRecord } from '../checks.ts';
import { invalid } from '../errors.ts';
import { checkNames } from '../option-names.ts';

const CONCURRENCY_RANGE = ['initial', 'min', 'max'];
const RATE_RANGE = ['min', 'max', 'targetP99Ms'];
const LEAST_RATE = 0.001;
const MOST_RATE = 1_000_000;

/** @throws BackpressureError `ERR_WBP_CONCURRENCY` */
export function checkConcurrency(given: number | ConcurrencyRange): void {
  const code = 'ERR_WBP_CONCURRENCY';
  if (typeof given === 'number' || !isRecord(given)) {
    checkInteger(code, 'concurrency', given, 1);
    return;
  }
  checkNames(given, 'concurrency', CONCURRENCY_RANGE, code);
  const { initial, min, max } = given;
  checkInteger(code, 'concurrency.min', min, 1);
  checkInteger(code, 'concurrency.initial', initial, min, ', the value of concurrency.min');
  checkInteger(code, 'concurrency.max', max, initial, ', the value of concurrency.initial');
}

/** @throws BackpressureError `ERR_WBP_MAX_CONCURRENCY_PER_KEY` */
export function checkPerKey(given: number | undefined): void {
  if (given === undefined || (typeof given === 'number' && given > 0 && given < 1)) return;
  if (Number.isSafeInteger(given) && given >= 1) return;
  const rule = 'an integer of at least 1, or a fraction between 0 and 1';
  throw invalid('ERR_WBP_MAX_CONCURRENCY_PER_KEY', 'maxConcurrencyPerKey', rule, given);
}

/** @throws BackpressureError `ERR_WBP_DRAIN_RATE` */
export function checkDrainRate(given: number | RateRange | undefined): void {
  const code = 'ERR_WBP_DRAIN_RATE';
  if (given === undefined) return;
  if (typeof given === 'number' || !isRecord(given)) {
    checkNumber(code, 'drainRate', given, LEAST_RATE, MOST_RATE, 'starts per second');
    return;
  }
  checkNames(given, 'drainRate', RATE_RANGE, code);
  const { min, max, targetP99Ms } = given;
  checkNumber(code, 'drainRate.min', min, LEAST_RATE, MOST_RATE, 'starts per second');
  checkNumber(code, 'drainRate.max', max, min, MOST_RATE, 'starts per second');
  checkNumber(code, 'drainRate.targetP99Ms', targetP99Ms, 1, DAY_MS, 'milliseconds');
}

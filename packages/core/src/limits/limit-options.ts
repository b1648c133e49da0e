import type { ConcurrencyRange } from './adaptive-concurrency.ts';
import type { RateRange } from './adaptive-rate.ts';
import { checkInteger, checkNames, checkNumber, DAY_MS, invalid, isRecord } from '@webhook-backpressure/base';

const LEAST_RATE = 0.001;
const MOST_RATE = 1_000_000;

/** @throws BackpressureError `ERR_WBP_CONCURRENCY` */
export function concurrencyOf(given: unknown, name: string): number | ConcurrencyRange {
  const code = 'ERR_WBP_CONCURRENCY';
  if (!isRecord(given)) {
    checkInteger(code, name, given, 1);
    return given as number;
  }
  checkNames(given, name, ['initial', 'min', 'max'], code);
  const { initial, min, max } = given as unknown as ConcurrencyRange;
  checkInteger(code, `${name}.min`, min, 1);
  checkInteger(code, `${name}.initial`, initial, min, `, the value of ${name}.min`);
  checkInteger(code, `${name}.max`, max, initial, `, the value of ${name}.initial`);
  return { initial, min, max };
}

/** @throws BackpressureError `ERR_WBP_MAX_CONCURRENCY_PER_KEY` */
export function checkPerKey(given: unknown, name: string): void {
  if (typeof given === 'number' && given > 0 && (given < 1 || Number.isSafeInteger(given))) return;
  const rule = 'an integer of at least 1, or a fraction between 0 and 1';
  throw invalid('ERR_WBP_MAX_CONCURRENCY_PER_KEY', name, rule, given);
}

/** @throws BackpressureError `ERR_WBP_DRAIN_RATE` */
export function drainRateOf(given: unknown, name: string): number | RateRange {
  const code = 'ERR_WBP_DRAIN_RATE';
  if (!isRecord(given)) {
    checkNumber(code, name, given, LEAST_RATE, MOST_RATE, 'starts per second');
    return given as number;
  }
  checkNames(given, name, ['min', 'max', 'targetP99Ms'], code);
  const { min, max, targetP99Ms } = given as unknown as RateRange;
  checkNumber(code, `${name}.min`, min, LEAST_RATE, MOST_RATE, 'starts per second');
  checkNumber(code, `${name}.max`, max, min, MOST_RATE, 'starts per second');
  checkNumber(code, `${name}.targetP99Ms`, targetP99Ms, 1, DAY_MS, 'milliseconds');
  return { min, max, targetP99Ms };
}

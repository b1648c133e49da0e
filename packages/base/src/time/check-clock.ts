import { isRecord } from '../checks.ts';
import { invalid } from '../errors.ts';

/** @throws BackpressureError `ERR_WBP_CLOCK` if something is no clock. */
export function checkClock(clock: unknown): void {
  if (isRecord(clock) && FUNCTIONS.every((name) => typeof clock[name] === 'function')) return;
  throw invalid(
    'ERR_WBP_CLOCK',
    'clock',
    'an object with the functions now, setTimeout and clearTimeout',
    clock,
  );
}

const FUNCTIONS = ['now', 'setTimeout', 'clearTimeout'];

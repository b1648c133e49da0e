import {
  checkList,
  checkNumber,
  checkOneOf,
  fieldsOf,
  isInteger,
  isNumber,
  wrong,
  type Fields,
} from './profile-fields.ts';

const RETRIES = ['maxAttempts', 'scheduleS', 'windowS', 'after'];
const RETRY_AFTER = ['unit', 'minSeconds', 'maxSeconds', 'steps'];
const STEPS = ['min', 'max'];
const SWITCH_OFF = ['inARow', 'ratio', 'minAnswers', 'count', 'windowS', 'offS'];
const FAILED_ATTEMPTS = [429, 503, 'timeout'];

/** Checks when a sender retries: the field `retries`, and `status`, after which it must retry. */
export function checkRetries({ retries, status }: Fields, at: string): void {
  if (status !== undefined) checkOneOf(status, [429, 503], `${at}.status`);
  if (retries === undefined || retries === 'none') return;
  const path = `${at}.retries`;
  const fields = fieldsOf(retries, path, RETRIES, '"none" or an object');
  checkNumber(fields, 'maxAttempts', path, 'an integer of at least 1', (n) => isInteger(n, 1));
  const schedule = 'a non-empty array of seconds, each at least 0';
  checkList(fields, 'scheduleS', path, schedule, (s) => isNumber(s) && s >= 0);
  checkNumber(fields, 'windowS', path, 'a number of seconds above 0', (n) => n > 0);
  const after = 'a non-empty array of 429, 503 and "timeout"';
  checkList(fields, 'after', path, after, (one) => FAILED_ATTEMPTS.includes(one as string));
  if (status === undefined || fields['after'] === undefined) return;
  if (!(fields['after'] as unknown[]).includes(status)) {
    throw wrong(`${at}.status`, 'one of retries.after, or undefined', status);
  }
}

/** Checks how a sender treats Retry-After: the field `retryAfter`. */
export function checkRetryAfter(given: unknown, at: string): void {
  if (given === undefined || given === 'ignored') return;
  const fields = fieldsOf(given, at, RETRY_AFTER, '"ignored" or an object');
  checkOneOf(fields['unit'], ['s', 'ms'], `${at}.unit`);
  checkNumber(fields, 'minSeconds', at, 'a number of seconds of at least 0', (n) => n >= 0);
  const min = (fields['minSeconds'] as number | undefined) ?? 0;
  const rule = `a number of seconds of at least ${String(min)}, the value of minSeconds`;
  checkNumber(fields, 'maxSeconds', at, rule, (n) => n >= min);
  if (fields['steps'] !== undefined) checkSteps(fields['steps'], `${at}.steps`);
}

function checkSteps(given: unknown, at: string): void {
  const { min, max } = fieldsOf(given, at, STEPS);
  if (!isNumber(min) || min < 0) throw wrong(`${at}.min`, 'a number of at least 0', min);
  if (!isNumber(max) || max < min) {
    throw wrong(`${at}.max`, `a number of at least ${String(min)}, the value of min`, max);
  }
}

/** Checks when a sender disables an endpoint: the field `switchOff`. */
export function checkSwitchOff(given: unknown, at: string): void {
  if (given === undefined) return;
  const fields = fieldsOf(given, at, SWITCH_OFF);
  const { inARow, ratio, count, windowS, minAnswers } = fields;
  for (const name of ['inARow', 'count', 'minAnswers']) {
    checkNumber(fields, name, at, 'an integer of at least 1', (n) => isInteger(n, 1));
  }
  checkNumber(fields, 'ratio', at, 'a number above 0 and at most 1', (n) => n > 0 && n <= 1);
  checkNumber(fields, 'windowS', at, 'a number of seconds above 0', (n) => n > 0);
  checkList(fields, 'offS', at, 'a non-empty array of seconds, each above 0', (s) => isNumber(s) && s > 0);
  if ((inARow ?? ratio ?? count) === undefined) {
    throw wrong(at, 'an object with inARow, ratio or count', given);
  }
  const hasWindow = (ratio ?? count) !== undefined;
  if (hasWindow && windowS === undefined) {
    throw wrong(`${at}.windowS`, 'a number of seconds above 0 when ratio or count is set', windowS);
  }
  if (!hasWindow && windowS !== undefined) {
    throw wrong(`${at}.windowS`, 'undefined without ratio or count', windowS);
  }
  if (ratio === undefined && minAnswers !== undefined) {
    throw wrong(`${at}.minAnswers`, 'undefined without ratio', minAnswers);
  }
}

import { BackpressureError, invalid, unknownName } from '@webhook-backpressure/base';
import type { SenderProfile } from './sender-profile.ts';

/** A match with an optional header. */
type LooseMatch = NonNullable<SenderProfile['handshake']>;

const PROFILE = [
  'name',
  'match',
  'id',
  'timeoutMs',
  'status',
  'retries',
  'retryAfter',
  'handshake',
  'success',
  'switchOff',
  'source',
  'verifiedAt',
];
const MATCH = ['header', 'value'];

/**
 * Checks the profiles of the option `senders` and prepares them for recognition: copies with lowercase header names and
 * stateless patterns.
 *
 * @param given - an array of profiles; undefined means none.
 * @throws BackpressureError `ERR_WBP_SENDERS`
 */
export function resolveSenders(given: unknown): readonly SenderProfile[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw wrong('senders', 'an array of sender profiles', given);
  const profiles = Array.from(given, (profile: unknown, i) => resolve(profile, `senders[${String(i)}]`));
  requireReachable(profiles);
  return profiles;
}

/** A profile that can never match is a mistake, and the sender that it describes would be treated as another one. */
function requireReachable(profiles: readonly SenderProfile[]): void {
  const all = profiles.findIndex(({ match }) => match === 'all');
  if (all === -1 || all === profiles.length - 1) return;
  const [first, next] = [`senders[${String(all)}]`, `senders[${String(all + 1)}]`];
  throw new BackpressureError(
    'ERR_WBP_SENDERS',
    `${next} never matches, because ${first} matches every request. List ${first} last.`,
  );
}

function resolve(given: unknown, at: string): SenderProfile {
  const fields = fieldsOf(given, at, PROFILE);
  const profile = fields as Partial<SenderProfile>;
  checkText(fields, 'name', at);
  const match = resolveIdentity(fields['match'], `${at}.match`);
  if (profile.id !== undefined) checkHeader(profile.id, `${at}.id`);
  checkNumber(fields, 'timeoutMs', at, 'a number of milliseconds above 0', (n) => n > 0);
  checkRetries(fields, at);
  checkRetryAfter(fields['retryAfter'], `${at}.retryAfter`);
  const handshake = resolveHandshake(fields['handshake'], match, `${at}.handshake`);
  checkSuccess(fields, at);
  checkSwitchOff(fields['switchOff'], `${at}.switchOff`);
  checkText(fields, 'source', at);
  if (!isDate(fields['verifiedAt']))
    throw wrong(`${at}.verifiedAt`, 'a date in the form YYYY-MM-DD', fields['verifiedAt']);
  return { ...(profile as SenderProfile), match, id: profile.id?.toLowerCase(), handshake };
}

function resolveIdentity(given: unknown, at: string): SenderProfile['match'] {
  if (given === 'all') return 'all';
  const { header, value } = resolveMatch(given, at, '"all" or an object');
  if (header === undefined) throw wrong(`${at}.header`, 'a valid header name', header);
  return { header, value };
}

function resolveMatch(given: unknown, at: string, rule?: string): LooseMatch {
  const { header, value } = fieldsOf(given, at, MATCH, rule);
  if (header !== undefined) checkHeader(header, `${at}.header`);
  if (value !== undefined && !isPattern(value) && !isText(value)) {
    throw wrong(`${at}.value`, 'a non-empty string or a regular expression', value);
  }
  return {
    header: header?.toLowerCase(),
    // With these flags a pattern keeps its last index and would match only every other time.
    value: isPattern(value) ? new RegExp(value.source, value.flags.replace(/[gy]/g, '')) : value,
  };
}

function resolveHandshake(given: unknown, match: SenderProfile['match'], at: string): LooseMatch | undefined {
  if (given === undefined) return undefined;
  const handshake = resolveMatch(given, at);
  if (handshake.header === undefined && handshake.value === undefined) {
    throw wrong(at, 'an object with header, value, or both', given);
  }
  if (handshake.header === undefined && match === 'all') {
    throw wrong(`${at}.header`, 'a valid header name when match is "all"', undefined);
  }
  return handshake;
}

function checkSuccess(fields: Fields, at: string): void {
  if (fields['success'] === '2xx') return;
  const rule = '"2xx" or an integer from 200 to 299';
  checkNumber(fields, 'success', at, rule, (n) => isInteger(n, 200) && n <= 299);
}

const RETRIES = ['maxAttempts', 'scheduleS', 'windowS', 'after'];
const RETRY_AFTER = ['unit', 'minSeconds', 'maxSeconds', 'steps'];
const STEPS = ['min', 'max'];
const SWITCH_OFF = ['inARow', 'ratio', 'minAnswers', 'count', 'windowS', 'offS'];
const FAILED_ATTEMPTS = [429, 503, 'timeout'];

/** Checks when a sender retries: the field `retries`, and `status`, after which it must retry. */
function checkRetries({ retries, status }: Fields, at: string): void {
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
function checkRetryAfter(given: unknown, at: string): void {
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
function checkSwitchOff(given: unknown, at: string): void {
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

/** The fields of a profile, or of an object in it, before their values are checked. */
type Fields = Readonly<Record<string, unknown>>;

/** A header name, RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The fields of an object that has no fields but `known`. */
function fieldsOf(given: unknown, at: string, known: readonly string[], rule = 'an object'): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong(at, rule, given);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue;
    throw new BackpressureError('ERR_WBP_SENDERS', unknownName('field', name, at, known));
  }
  return given as Fields;
}

function checkText(fields: Fields, name: string, at: string): void {
  const text = fields[name];
  if (!isText(text)) throw wrong(`${at}.${name}`, 'a non-empty string', text);
}

function checkHeader(value: unknown, at: string): asserts value is string {
  if (typeof value === 'string' && TOKEN.test(value)) return;
  throw wrong(at, 'a valid header name', value);
}

/** Accepts an absent field, and a finite number that is valid. */
function checkNumber(
  fields: Fields,
  name: string,
  at: string,
  rule: string,
  isValid: (value: number) => boolean,
): void {
  const value = fields[name];
  if (value === undefined || (isNumber(value) && isValid(value))) return;
  throw wrong(`${at}.${name}`, rule, value);
}

/** Accepts an absent field, and an array with one or more valid elements. */
function checkList(
  fields: Fields,
  name: string,
  at: string,
  rule: string,
  isValid: (element: unknown) => boolean,
): void {
  const value = fields[name];
  if (value === undefined) return;
  if (Array.isArray(value) && value.length > 0 && Array.from(value).every(isValid)) return;
  throw wrong(`${at}.${name}`, rule, value);
}

function checkOneOf(value: unknown, allowed: readonly unknown[], at: string): void {
  if (allowed.includes(value)) return;
  throw wrong(at, allowed.map((one) => JSON.stringify(one)).join(' or '), value);
}

function wrong(at: string, rule: string, given: unknown): BackpressureError {
  return invalid('ERR_WBP_SENDERS', at, rule, given);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isInteger(value: number, min: number): boolean {
  return Number.isSafeInteger(value) && value >= min;
}

function isPattern(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]';
}

function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !DATE.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  // Date parses a day that does not exist as a day of the next month.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

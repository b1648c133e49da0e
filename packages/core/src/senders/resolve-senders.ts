import { BackpressureError, invalid } from '../errors.ts';
import { unknownName } from '../option-names.ts';
import type { SenderProfile } from './sender-profile.ts';

/** A match with an optional header. */
type LooseMatch = NonNullable<SenderProfile['handshake']>;
type Fields = Readonly<Record<string, unknown>>;

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
const RETRIES = ['maxAttempts', 'scheduleS', 'windowS', 'after'];
const RETRY_AFTER = ['unit', 'minSeconds', 'maxSeconds', 'steps'];
const SWITCH_OFF = ['inARow', 'ratio', 'minAnswers', 'count', 'windowS', 'offS'];

/** A header name, RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

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
  return Array.from(given, (profile: unknown, i) => resolve(profile, `senders[${String(i)}]`));
}

function resolve(given: unknown, at: string): SenderProfile {
  const fields = fieldsOf(given, at, PROFILE);
  const profile = fields as Partial<SenderProfile>;
  checkText(fields, 'name', at);
  const match = resolveIdentity(fields['match'], `${at}.match`);
  if (profile.id !== undefined) checkHeader(profile.id, `${at}.id`);
  checkNumber(fields, 'timeoutMs', at, 'a number of milliseconds above 0', (n) => n > 0);
  if (profile.status !== undefined) checkOneOf(profile.status, [429, 503], `${at}.status`);
  checkRetries(fields['retries'], `${at}.retries`);
  checkRetryAfter(fields['retryAfter'], `${at}.retryAfter`);
  if (fields['success'] !== '2xx') {
    checkNumber(
      fields,
      'success',
      at,
      '"2xx" or an integer from 200 to 299',
      (n) => isInteger(n, 200) && n <= 299,
    );
  }
  checkSwitchOff(fields['switchOff'], `${at}.switchOff`);
  checkText(fields, 'source', at);
  if (!isDate(fields['verifiedAt']))
    throw wrong(`${at}.verifiedAt`, 'a date in the form YYYY-MM-DD', fields['verifiedAt']);
  return {
    ...(profile as SenderProfile),
    match,
    id: profile.id?.toLowerCase(),
    handshake: resolveHandshake(fields['handshake'], `${at}.handshake`),
  };
}

function resolveIdentity(given: unknown, at: string): SenderProfile['match'] {
  if (given === 'all') return 'all';
  const { header, value } = resolveMatch(given, at);
  if (header === undefined) throw wrong(`${at}.header`, 'a valid header name', header);
  return { header, value };
}

function resolveMatch(given: unknown, at: string): LooseMatch {
  const { header, value } = fieldsOf(given, at, MATCH);
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

function resolveHandshake(given: unknown, at: string): LooseMatch | undefined {
  if (given === undefined) return undefined;
  const handshake = resolveMatch(given, at);
  if (handshake.header === undefined && handshake.value === undefined) {
    throw wrong(at, 'an object with header, value, or both', given);
  }
  return handshake;
}

function checkRetries(given: unknown, at: string): void {
  if (given === undefined || given === 'none') return;
  const fields = fieldsOf(given, at, RETRIES, '"none" or an object');
  checkNumber(fields, 'maxAttempts', at, 'an integer of at least 1', (n) => isInteger(n, 1));
  const { scheduleS } = fields;
  if (
    scheduleS !== undefined &&
    !(Array.isArray(scheduleS) && scheduleS.every((s) => isNumber(s) && s >= 0))
  ) {
    throw wrong(`${at}.scheduleS`, 'an array of numbers of seconds, each at least 0', scheduleS);
  }
  checkNumber(fields, 'windowS', at, 'a number of seconds above 0', (n) => n > 0);
}

function checkRetryAfter(given: unknown, at: string): void {
  if (given === undefined || given === 'ignored') return;
  const fields = fieldsOf(given, at, RETRY_AFTER, '"ignored" or an object');
  checkOneOf(fields['unit'], ['s', 'ms'], `${at}.unit`);
  checkNumber(fields, 'minSeconds', at, 'a number of seconds of at least 0', (n) => n >= 0);
  const min = (fields['minSeconds'] as number | undefined) ?? 0;
  checkNumber(
    fields,
    'maxSeconds',
    at,
    `a number of seconds of at least ${String(min)}, the value of minSeconds`,
    (n) => n >= min,
  );
}

function checkSwitchOff(given: unknown, at: string): void {
  if (given === undefined) return;
  const fields = fieldsOf(given, at, SWITCH_OFF);
  const { inARow, ratio, windowS } = fields;
  checkNumber(fields, 'inARow', at, 'an integer of at least 1', (n) => isInteger(n, 1));
  checkNumber(fields, 'ratio', at, 'a number above 0 and at most 1', (n) => n > 0 && n <= 1);
  checkNumber(fields, 'windowS', at, 'a number of seconds above 0', (n) => n > 0);
  if ((ratio === undefined) !== (windowS === undefined) || (inARow ?? ratio) === undefined) {
    throw wrong(at, 'an object with inARow, with ratio and windowS, or with all three', given);
  }
}

function checkText(fields: Fields, name: string, at: string): void {
  const text = fields[name];
  if (!isText(text)) throw wrong(`${at}.${name}`, 'a non-empty string', text);
}

function checkHeader(value: unknown, at: string): asserts value is string {
  if (typeof value === 'string' && TOKEN.test(value)) return;
  throw wrong(at, 'a valid header name', value);
}

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

function checkOneOf(value: unknown, allowed: readonly unknown[], at: string): void {
  if (allowed.includes(value)) return;
  throw wrong(at, allowed.map((one) => JSON.stringify(one)).join(' or '), value);
}

/** The fields of an object that has no fields but `known`. */
function fieldsOf(given: unknown, at: string, known: readonly string[], rule = 'an object'): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong(at, rule, given);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue;
    throw new BackpressureError('ERR_WBP_SENDERS', unknownName('field', name, at, known));
  }
  return given as Fields;
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

import { BackpressureError, invalid, unknownName } from '@webhook-backpressure/base';

/** The fields of a profile, or of an object in it, before their values are checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** A header name, RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The fields of an object that has no fields but `known`. */
export function fieldsOf(given: unknown, at: string, known: readonly string[], rule = 'an object'): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong(at, rule, given);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue;
    throw new BackpressureError('ERR_WBP_SENDERS', unknownName('field', name, at, known));
  }
  return given as Fields;
}

export function checkText(fields: Fields, name: string, at: string): void {
  const text = fields[name];
  if (!isText(text)) throw wrong(`${at}.${name}`, 'a non-empty string', text);
}

export function checkHeader(value: unknown, at: string): asserts value is string {
  if (typeof value === 'string' && TOKEN.test(value)) return;
  throw wrong(at, 'a valid header name', value);
}

/** Accepts an absent field, and a finite number that is valid. */
export function checkNumber(
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
export function checkList(
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

export function checkOneOf(value: unknown, allowed: readonly unknown[], at: string): void {
  if (allowed.includes(value)) return;
  throw wrong(at, allowed.map((one) => JSON.stringify(one)).join(' or '), value);
}

export function wrong(at: string, rule: string, given: unknown): BackpressureError {
  return invalid('ERR_WBP_SENDERS', at, rule, given);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function isInteger(value: number, min: number): boolean {
  return Number.isSafeInteger(value) && value >= min;
}

export function isPattern(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]';
}

export function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !DATE.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  // Date parses a day that does not exist as a day of the next month.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

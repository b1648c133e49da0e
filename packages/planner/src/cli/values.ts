import { unknownName } from '@webhook-backpressure/base';
import type { parseArgs } from 'node:util';
import type { Rule } from '../scenario/fields.ts';

/** A wrong command line. The message is for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const SHORT: Readonly<Record<string, string>> = { h: 'help', v: 'version' };

/** The options and the other arguments of a command line. */
interface Split {
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
}

/**
 * Splits a command line. Each option may be given once.
 *
 * @param parse - `parseArgs` of node:util: this file is also loaded by browsers.
 * @param texts - the names of options with a value.
 * @param flags - the names of options without one, whose value is ''.
 * @throws UsageError for an unknown or repeated option, and for one without its value.
 */
export function split(
  parse: typeof parseArgs,
  args: readonly string[],
  texts: readonly string[],
  flags: readonly string[],
): Split {
  const options = Object.fromEntries<{ type: 'string' | 'boolean' }>([
    ...texts.map((name) => [name, { type: 'string' }] as const),
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  // The messages of the strict mode name no known option.
  const { tokens, positionals } = parse({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const name = SHORT[token.name] ?? token.name;
    const isFlag = flags.includes(name);
    if (!isFlag && !texts.includes(name)) {
      const known = [...texts, ...flags].map((one) => `--${one}`);
      throw new UsageError(unknownName('option', token.rawName, 'options', known));
    }
    if (isFlag && token.value !== undefined) throw new UsageError(`--${name} takes no value.`);
    // Without this, `--html --json` would write a file with the name --json.
    const isNext = token.inlineValue === false && token.value.startsWith('--');
    if (!isFlag && (token.value === undefined || isNext)) throw new UsageError(`--${name} needs a value.`);
    if (values.has(name)) throw new UsageError(`--${name} must be given once.`);
    values.set(name, token.value ?? '');
  }
  return { values, positionals };
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
};
const NUMBER = String.raw`\d+(?:\.\d+)?`;

/** Parses `500ms`, `40s`, `2min` and `1h` into milliseconds. */
export function parseDuration(option: string, text: string): number {
  const ms = durationOf(text);
  if (ms === undefined) throw wrong(option, 'a time with its unit, such as 500ms, 40s or 2min', text);
  return ms;
}

function durationOf(text: string): number | undefined {
  const [, value, unit = ''] = new RegExp(`^(${NUMBER})([a-z]+)$`).exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  return value === undefined || unitMs === undefined ? undefined : Number(value) * unitMs;
}

/** Parses `5/s` and `300/min` into deliveries per second. */
export function parseRate(option: string, text: string): number {
  const [, value, unit = ''] = new RegExp(`^(${NUMBER})/([a-z]+)$`).exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (value === undefined || unitMs === undefined)
    throw wrong(option, 'a number of deliveries per unit of time, such as 5/s or 300/min', text);
  return (Number(value) * 1000) / unitMs;
}

/** Parses `50000/40s`, also `50,000/40s`, `50_000/40s` and `1.5k/1s`. A point alone may separate thousands: an error. */
export function parseBurst(option: string, text: string): { events: number; seconds: number } {
  const [, thousands, count = '', time = ''] =
    /^(?:(\d+(?:\.\d+)?)k|(\d+(?:[,_]\d{3})*))\/(\S+)$/.exec(text) ?? [];
  const timeMs = durationOf(time);
  if (timeMs === undefined)
    throw wrong(option, 'a number of deliveries and a time with its unit, such as 50000/40s', text);
  const events =
    thousands === undefined ? Number(count.replaceAll(/[,_]/g, '')) : Math.round(1000 * Number(thousands));
  return { events, seconds: timeMs / 1000 };
}

/** Parses `80ms` and `80ms:constant`. */
export function parseService(
  option: string,
  text: string,
): { meanMs: number; distribution: 'constant' | 'exponential' } {
  const [time = '', distribution = 'exponential', ...rest] = text.split(':');
  if (rest.length > 0 || (distribution !== 'constant' && distribution !== 'exponential'))
    throw wrong(option, 'a time, alone or with :constant or :exponential, such as 80ms:constant', text);
  return { meanMs: parseDuration(option, time), distribution };
}

/** Each share may be rounded to hundredths. */
const ROUNDED_BY = 0.005_01;

/** Parses `shopify:0.7,github:0.3` and, in whole numbers, `shopify:7,github:3`. */
export function parseSenders(option: string, text: string): { profile: string; share: number }[] {
  const senders = text.split(',').map((entry) => {
    const [, profile, share = '1'] = /^\s*([\w.-]+)(?:\s*:\s*(\d*\.?\d+))?\s*$/.exec(entry) ?? [];
    if (profile === undefined)
      throw wrong(option, 'names of senders with their shares, such as shopify:0.7,github:0.3', text);
    return { profile, share: Number(share) };
  });
  const sum = senders.reduce((total, { share }) => total + share, 0);
  // With a fraction among them, the shares are meant as parts of 1: 0.7 and 0.9 is a mistake, not 44 % and 56 %.
  const isInParts = senders.some(({ share }) => !Number.isInteger(share));
  if (isInParts && Math.abs(sum - 1) > ROUNDED_BY * senders.length) {
    throw new UsageError(
      `${option} must have shares that add up to 1, or whole numbers such as shopify:7,github:3, but they add up to ${String(Number(sum.toFixed(3)))}.`,
    );
  }
  return senders;
}

export function parseInteger(option: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw wrong(option, 'an integer', text);
  return value;
}

export function wrong(option: string, rule: string, given: string): UsageError {
  return new UsageError(`${option} must be ${rule}, but was ${JSON.stringify(given)}.`);
}

/** Reads the value of an option; undefined without it. */
type Reader = <T>(name: string, parse: (option: string, text: string) => T) => T | undefined;

/**
 * A function that reads the value of an option, if it is given.
 *
 * @throws UsageError for a value that cannot be parsed.
 */
export function readerOf(values: ReadonlyMap<string, string>): Reader {
  return (name, parse) => {
    const text = values.get(name);
    return text === undefined ? undefined : parse(`--${name}`, text);
  };
}

/** Throws a UsageError unless the value of an option is absent or obeys the rule. */
export function within<T extends number>(
  values: ReadonlyMap<string, string>,
  name: string,
  rule: Rule<number>,
  value: T | undefined,
): T | undefined {
  if (value !== undefined && !rule.holds(value)) throw wrong(`--${name}`, rule.words, values.get(name) ?? '');
  return value;
}

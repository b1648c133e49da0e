import { ScenarioError, type Rule } from '../scenario/fields.ts';
import { LIMITS, type PlanRequest, readArriving } from '../search/request.ts';

/** A wrong command line. The message is for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The options of the command line that are a request. The address of a plan on the docs site has the same. */
export const REQUEST_TEXTS: readonly string[] = [
  ...['senders', 'normal', 'burst', 'service', 'concurrency', 'mode', 'receivers'],
  ...['capacity', 'max-wait', 'timeout', 'seed'],
];

/**
 * Reads a request for a plan.
 *
 * @param values - the texts by name of the option. Other names are ignored.
 * @throws UsageError at the first mistake.
 */
export function requestOf(values: ReadonlyMap<string, string>): PlanRequest {
  return checked(parsed(values));
}

function parsed(values: ReadonlyMap<string, string>): PlanRequest {
  const read = <T>(name: string, parse: (option: string, text: string) => T): T | undefined => {
    const text = values.get(name);
    return text === undefined ? undefined : parse(`--${name}`, text);
  };
  const within = <T extends number>(
    name: string,
    rule: Rule<number>,
    value: T | undefined,
  ): T | undefined => {
    if (value !== undefined && !rule.holds(value))
      throw wrong(`--${name}`, rule.words, values.get(name) ?? '');
    return value;
  };
  const senders = read('senders', parseSenders);
  const service = read('service', parseService);
  if (senders === undefined)
    throw new UsageError(
      '--senders is missing: names with shares, such as --senders shopify:0.7,github:0.3.',
    );
  if (service === undefined)
    throw new UsageError(
      '--service is missing: how long a handler takes on average, such as --service 80ms.',
    );
  const burst = read('burst', parseBurst);
  const normal = read('normal', parseRate);
  if (burst === undefined && (normal ?? 0) === 0)
    throw new UsageError(
      '--burst or --normal is missing: what arrives, such as --burst 50000/40s --normal 5/s.',
    );
  within('burst', LIMITS.events, burst?.events);
  within('burst', LIMITS.seconds, burst?.seconds);
  within('service', LIMITS.serviceMs, service.meanMs);
  const count = (name: 'concurrency' | 'receivers' | 'capacity' | 'seed'): number | undefined =>
    within(name, LIMITS[name], read(name, parseInteger));
  return {
    senders,
    service,
    burst,
    mode: modeOf(values.get('mode')),
    normalPerSecond: within('normal', LIMITS.perSecond, normal),
    concurrency: count('concurrency'),
    receivers: count('receivers'),
    capacity: count('capacity'),
    maxWaitMs: within('max-wait', LIMITS.waitMs, read('max-wait', parseDuration)),
    timeoutMs: within('timeout', LIMITS.waitMs, read('timeout', parseDuration)),
    seed: count('seed'),
  };
}

/** Finds the mistakes that are not in a single value, such as an unknown sender. */
function checked(request: PlanRequest): PlanRequest {
  try {
    readArriving(request);
    return request;
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

function modeOf(text: string | undefined): 'hold' | 'inbox' | undefined {
  if (text === undefined || text === 'hold' || text === 'inbox') return text;
  throw wrong('--mode', 'hold or inbox', text);
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
function parseDuration(option: string, text: string): number {
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
function parseRate(option: string, text: string): number {
  const [, value, unit = ''] = new RegExp(`^(${NUMBER})/([a-z]+)$`).exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (value === undefined || unitMs === undefined)
    throw wrong(option, 'a number of deliveries per unit of time, such as 5/s or 300/min', text);
  return (Number(value) * 1000) / unitMs;
}

/** Parses `50000/40s`, also `50,000/40s`, `50_000/40s` and `1.5k/1s`. A point alone may separate thousands: an error. */
function parseBurst(option: string, text: string): { events: number; seconds: number } {
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
function parseService(
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
function parseSenders(option: string, text: string): { profile: string; share: number }[] {
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

function parseInteger(option: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw wrong(option, 'an integer', text);
  return value;
}

function wrong(option: string, rule: string, given: string): UsageError {
  return new UsageError(`${option} must be ${rule}, but was ${JSON.stringify(given)}.`);
}

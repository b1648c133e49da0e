import { UsageError } from './usage-error.ts';

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

/** Parses `shopify:0.7,github:0.3`. */
export function parseSenders(option: string, text: string): { profile: string; share: number }[] {
  return text.split(',').map((entry) => {
    const [, profile, share = '1'] = /^\s*([\w.-]+)(?:\s*:\s*(\d*\.?\d+))?\s*$/.exec(entry) ?? [];
    if (profile === undefined)
      throw wrong(option, 'names of senders with their shares, such as shopify:0.7,github:0.3', text);
    return { profile, share: Number(share) };
  });
}

export function parseInteger(option: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw wrong(option, 'an integer', text);
  return value;
}

export function wrong(option: string, rule: string, given: string): UsageError {
  return new UsageError(`${option} must be ${rule}, but was ${JSON.stringify(given)}.`);
}

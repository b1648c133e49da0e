// Numbers as the page shows them. A value that is unknown is a dash.

const UNKNOWN = '–';

type Value = number | null | undefined;

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const typed = new Intl.NumberFormat('en', { maximumFractionDigits: 20 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

function isUnknown(value: Value): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value);
}

/** Deliveries: 1,234, and from 100,000 on 123.5K. */
export function count(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  return Math.abs(value) >= 100_000 ? compact.format(value) : whole.format(value);
}

/** A number as it was typed, since a result is calculated from it: 0.5, 26.9, 1,234.5. */
export function exact(value: number): string {
  return typed.format(value);
}

/** Per second: 0.4/s, 41/s. */
export function rate(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  const number = value > 0 && value < 10 ? one.format(value) : count(value);
  return `${number === '0' && value > 0 ? '<0.1' : number}/s`;
}

/** A ratio from 0 to 1 as a percentage: 0 %, <0.1 %, 3.2 %, 62 %. */
export function percent(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  if (value > 0 && value < 0.001) return '<0.1 %';
  // 99.96 % must not read as all.
  if (value < 1 && value > 0.999) return '>99.9 %';
  return `${(value < 0.1 || value > 0.99 ? one : whole).format(value * 100)} %`;
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Milliseconds as a duration: 340 ms, 1.2 s, 2 min 10 s, 3 h 5 min. */
export function duration(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  if (value === 0) return '0 ms';
  if (value < 1) return '<1 ms';
  if (value < 999.5) return `${whole.format(value)} ms`;
  if (value < 59_950) return `${(value < 9_950 ? one : whole).format(value / 1000)} s`;
  if (value < HOUR - 500) return two(value, MINUTE, 'min', 1000, 's');
  if (value < DAY - MINUTE / 2) return two(value, HOUR, 'h', MINUTE, 'min');
  return two(value, DAY, 'd', HOUR, 'h');
}

function two(value: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  // Rounded first, so that 119.9 s is 2 min and not 1 min 60 s.
  const rounded = Math.round(value / small) * small;
  const rest = Math.round((rounded % big) / small);
  const first = `${String(Math.floor(rounded / big))} ${bigUnit}`;
  return rest === 0 ? first : `${first} ${String(rest)} ${smallUnit}`;
}

/** Milliseconds from a histogram, in which 0 means a value below 1. */
export function percentile(value: Value): string {
  return value === 0 ? '<1 ms' : duration(value);
}

/** Seconds as a duration. */
export function seconds(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  return value === 0 ? '0 s' : duration(value * 1000);
}

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes in powers of 1,024: 512 B, 1.5 KiB. */
export function bytes(value: Value): string {
  if (isUnknown(value)) return UNKNOWN;
  let scaled = value;
  let unit = 0;
  while (scaled >= 1023.5 && unit < BYTES.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${(scaled < 9.95 ? one : whole).format(scaled)} ${BYTES[unit] ?? ''}`;
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const minuteOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** Milliseconds since 1970 as the local time of day: 13:35:02. */
export function clock(at: number): string {
  return timeOfDay.format(at);
}

/** The same without seconds. */
export function clockMinute(at: number): string {
  return minuteOfDay.format(at);
}

/** A moment, also of another day: 22 Nov, 13:35:02. */
export function moment(at: number | string | undefined): string {
  const date = new Date(at ?? NaN);
  return Number.isNaN(date.getTime()) ? UNKNOWN : dayAndTime.format(date);
}

/** "1 delivery", "2 deliveries". */
export function plural(value: number, singular: string, many: string): string {
  return `${count(value)} ${value === 1 ? singular : many}`;
}

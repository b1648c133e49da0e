/**
 * Reads a `Retry-After` header, by RFC 9110: seconds, or an HTTP date in any of its three formats.
 *
 * @param value - the value of the header; null or undefined without it.
 * @param nowMs - the present wall-clock time, in milliseconds since 1970.
 * @returns how long to wait, in milliseconds; 0 for a date in the past; null if there is no valid value. It is not limited:
 * a valid value can ask for years.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = httpDate(text, nowMs);
  return dateMs === undefined ? null : Math.max(0, dateMs - nowMs);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';

const FORMATS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} (?:gmt|utc)$`, 'i'),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[a-z]{6,9}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} gmt$`, 'i'),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^${DAY} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`, 'i'),
];

/**
 * Reads a date in one of the three formats of RFC 9110. `Date.parse` would accept much more, and read a date without a zone
 * as local time.
 *
 * @returns milliseconds since 1970; undefined for any other text.
 */
export function httpDate(text: string, nowMs: number): number | undefined {
  // No format is longer, and a regular expression must not read a header of 16 KiB.
  if (text.length > 40) return undefined;
  for (const format of FORMATS) {
    const groups = format.exec(text)?.groups;
    if (groups) return timeOf(groups, nowMs);
  }
  return undefined;
}

function timeOf(groups: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const numberOf = (name: string): number => Number(groups[name]);
  const [day, hour, minute, second] = [
    numberOf('day'),
    numberOf('hour'),
    numberOf('minute'),
    numberOf('second'),
  ];
  const month = MONTHS.indexOf(String(groups['month']).toLowerCase());
  const date = new Date(0);
  date.setUTCFullYear(fullYear(String(groups['year']), nowMs), month, day);
  // `Date` carries the 31st of February into March.
  if (date.getUTCMonth() !== month) return undefined;
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** A year of two digits is the one that is less than 50 years ago, or at most 50 years ahead. */
function fullYear(year: string, nowMs: number): number {
  if (year.length === 4) return Number(year);
  const latest = new Date(nowMs).getUTCFullYear() + 50;
  return latest - ((latest - Number(year)) % 100);
}

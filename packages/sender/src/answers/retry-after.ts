import { httpDate } from './http-date.ts';

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

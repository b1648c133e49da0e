/**
 * The wait that a Retry-After header asks for, in milliseconds; undefined when it is absent or makes no sense.
 *
 * @param header - seconds, or an HTTP date.
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

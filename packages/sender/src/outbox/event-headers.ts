import { BackpressureError, invalid, isRecord } from '@webhook-backpressure/base';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/;
/** No line break and no other control character: it would begin another header, or end the request. */
const VALUE = /^[\t -~]*$/;
const MAX_HEADERS = 50;
const MAX_CHARACTERS = 8192;
/** Set by the sender, or part of how HTTP transfers the request. */
const REFUSED = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'content-range', 'accept-encoding', 'host'],
  ...[
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
    'http2-settings',
  ],
]);
const REFUSED_START = /^(webhook|proxy)-/;
const NONE: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The headers of an event, with names in lower case.
 *
 * @throws BackpressureError `ERR_WBP_EVENT`, without the value of a header: it may be a token.
 */
export function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (headers === undefined) return NONE;
  if (!isRecord(headers)) throw invalid('ERR_WBP_EVENT', 'headers', 'an object', headers);
  const checked = new Map<string, string>();
  let characters = 0;
  for (const [given, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const name = given.toLowerCase();
    if (!NAME.test(name)) throw refused(given, 'is not the name of a header');
    if (REFUSED.has(name) || REFUSED_START.test(name))
      throw refused(given, 'is set by the sender or by HTTP');
    if (checked.has(name)) throw refused(given, 'is given twice');
    if (typeof value !== 'string' || !VALUE.test(value))
      throw refused(given, 'must be a string of printable ASCII characters');
    checked.set(name, value.trim());
    characters += name.length + value.length;
  }
  if (checked.size > MAX_HEADERS || characters > MAX_CHARACTERS) {
    throw new BackpressureError(
      'ERR_WBP_EVENT',
      `headers must be at most 50 with 8,192 characters in all, but were ${String(checked.size)} with ${String(characters)}.`,
    );
  }
  // Safe for a header that is named `__proto__`.
  return Object.fromEntries(checked);
}

function refused(name: string, problem: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_EVENT',
    `The header ${JSON.stringify(name.slice(0, 80))} ${problem}.`,
  );
}

import { invalid } from '@webhook-backpressure/base';

/**
 * Headers that authenticate the sender: anyone who reads the store could impersonate it. Only `verify` needs them, before
 * the delivery is stored.
 */
export const REDACTED: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-auth-token',
  'x-access-token',
  'x-amz-security-token',
  'x-forwarded-access-token',
  'cf-access-client-secret',
  'x-gitlab-token',
  'x-telegram-bot-api-secret-token',
];

/** Whether a header is not stored, by its name in lower case. */
export type Redacts = (name: string) => boolean;

/**
 * Checks the option `redact`.
 *
 * @throws BackpressureError `ERR_WBP_REDACT`
 */
export function redaction(given: unknown = REDACTED): Redacts {
  if (typeof given === 'function') return given as Redacts;
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string')) {
    throw invalid('ERR_WBP_REDACT', 'redact', 'an array of header names, or a function', given);
  }
  const names = new Set(given.map((name) => name.toLowerCase()));
  return (name) => names.has(name);
}

export function withoutRedacted(
  headers: Readonly<Record<string, string>>,
  redacts: Redacts,
): Readonly<Record<string, string>> {
  const names = Object.keys(headers);
  const kept = names.filter((name) => !redacts(name));
  // Most deliveries have none of these headers and need no copy.
  if (kept.length === names.length) return headers;
  return Object.fromEntries(kept.map((name) => [name, headers[name] ?? '']));
}

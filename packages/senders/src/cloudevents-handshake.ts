import { glanceAt, invalid } from '@webhook-backpressure/base';
import type { RequestHeaders } from './sender-profile.ts';

/** Options of {@link cloudEventsHandshake}. */
export interface CloudEventsHandshakeOptions {
  /**
   * The origins that may send: all (`*`), a list of DNS names in any case, or a function that returns `true` for
   * allowed origins. Default `*`: the handshake protects third parties from a sender, but does not prove its identity.
   */
  allowedOrigins?: '*' | readonly string[] | ((origin: string) => boolean) | undefined;
}

/** The answer to a handshake. It has no body. */
export interface HandshakeAnswer {
  /** 200 for an allowed origin, otherwise 403. */
  readonly status: 200 | 403;
  /** `Allow`, and the permission headers for an allowed origin. */
  readonly headers: Record<string, string>;
}

/** Printable ASCII only: the origin is echoed in a header of the answer. */
const ORIGIN = /^[\x21-\x7e]{1,253}$/;

/**
 * Answers the handshake of a CloudEvents sender: an OPTIONS request with `WebHook-Request-Origin`. The answer allows
 * the drain rate of the workers, in requests per minute, or any rate (`*`) while the drain rate is unknown. A sender
 * that is not allowed gets 403 without the permission headers, which means no by the specification.
 *
 * Call this function for OPTIONS requests only: deliveries have the same header.
 *
 * Source: "HTTP 1.1 Web Hooks for Event Delivery" 1.0.2, section 4.
 *
 * @returns undefined if the request is not a handshake, such as a CORS preflight.
 * @throws BackpressureError `ERR_WBP_ORIGINS` if `allowedOrigins` is invalid.
 */
export function cloudEventsHandshake(
  intake: { snapshot(): { readonly drainRate: number | null } },
  headers: RequestHeaders,
  { allowedOrigins = '*' }: CloudEventsHandshakeOptions = {},
): HandshakeAnswer | undefined {
  const allows = allowance(allowedOrigins);
  const given = headers['webhook-request-origin'];
  const origin = typeof given === 'object' ? given[0] : given;
  if (origin === undefined) return undefined;

  if (!ORIGIN.test(origin) || !allows(origin)) return { status: 403, headers: { Allow: 'POST' } };
  return {
    status: 200,
    headers: {
      Allow: 'POST',
      'WebHook-Allowed-Origin': allowedOrigins === '*' ? '*' : origin,
      'WebHook-Allowed-Rate': allowedRate(glanceAt(intake).drainRate),
    },
  };
}

function allowedRate(perSecond: number | null): string {
  if (perSecond === null) return '*';
  // The specification has no zero: a sender that must not send gets no permission instead.
  return String(Math.max(1, Math.min(Number.MAX_SAFE_INTEGER, Math.floor(perSecond * 60))));
}

function allowance(allowed: unknown): (origin: string) => boolean {
  if (allowed === '*') return () => true;
  if (typeof allowed === 'function')
    return (origin) => (allowed as (origin: string) => unknown)(origin) === true;
  if (!Array.isArray(allowed) || !allowed.every((one) => typeof one === 'string')) {
    throw invalid('ERR_WBP_ORIGINS', 'allowedOrigins', '"*", an array of strings, or a function', allowed);
  }
  return (origin) => allowed.some((one) => one.toLowerCase() === origin.toLowerCase());
}

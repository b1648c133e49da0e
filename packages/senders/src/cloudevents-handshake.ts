import { glanceAt, invalid } from '@webhook-backpressure/base';
import type { RequestHeaders } from './sender-profile.ts';

/** The value of the option `allowedOrigins`. */
export type AllowedOrigins = '*' | readonly string[] | ((origin: string) => boolean);

/** The answer to a handshake. */
export interface HandshakeAnswer {
  /** 200 for an allowed origin, otherwise 403. */
  readonly status: 200 | 403;
  /** `Allow`, and the permission headers for an allowed origin. */
  readonly headers: Record<string, string>;
  /** Always empty. */
  readonly body: '';
}

/** Whether a request with this method and these headers asks for permission. Deliveries have the same header. */
export function asksPermission(method: string | undefined, headers: RequestHeaders): boolean {
  return method === 'OPTIONS' && headers['webhook-request-origin'] !== undefined;
}

/** Printable ASCII only: the origin is echoed in a header of the answer. */
const ORIGIN = /^[\x21-\x7e]{1,253}$/;

/**
 * Creates a function that answers the handshake of a CloudEvents sender, see {@link asksPermission}. The answer allows the
 * drain rate of the workers, in requests per minute, or any rate (`*`) while the drain rate is unknown. A sender that is
 * not allowed gets 403 without the permission headers, which means no by the specification.
 *
 * Source: "HTTP 1.1 Web Hooks for Event Delivery" 1.0.2, section 4.
 *
 * @throws BackpressureError `ERR_WBP_ORIGINS` if `allowedOrigins` is invalid.
 */
export function cloudEventsHandshake(
  source: { snapshot(): { readonly drainRate: number | null } },
  allowedOrigins: AllowedOrigins = '*',
): (headers: RequestHeaders) => HandshakeAnswer {
  const allows = allowance(allowedOrigins);
  return (headers) => {
    const given = headers['webhook-request-origin'];
    const origin = (typeof given === 'object' ? given[0] : given) ?? '';
    if (!ORIGIN.test(origin) || !allows(origin)) return { status: 403, headers: { Allow: 'POST' }, body: '' };
    return {
      status: 200,
      headers: {
        Allow: 'POST',
        'WebHook-Allowed-Origin': allowedOrigins === '*' ? '*' : origin,
        'WebHook-Allowed-Rate': allowedRate(glanceAt(source).drainRate),
      },
      body: '',
    };
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
  const names = new Set(allowed.map((one: string) => one.toLowerCase()));
  return (origin) => names.has(origin.toLowerCase());
}

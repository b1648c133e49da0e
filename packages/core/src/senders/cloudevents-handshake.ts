import { invalid } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import type { RequestHeaders } from './sender-profile.ts';

/** Options of {@link cloudEventsHandshake}. */
export interface CloudEventsHandshakeOptions {
  /**
   * Who may send: everybody, the origins that are listed (DNS names, in any case), or those that the function says
   * `true` to. Default `*`: the handshake protects third parties from a sender, and is no proof of who it is.
   */
  allowedOrigins?: '*' | readonly string[] | ((origin: string) => boolean) | undefined;
}

/** What to answer to a handshake. There is no body. */
export interface HandshakeAnswer {
  readonly status: 200 | 403;
  readonly headers: Record<string, string>;
}

/** Printable characters only: the origin is repeated in a header of the answer. */
const ORIGIN = /^[\x21-\x7e]{1,253}$/;

/**
 * Answers the handshake of a CloudEvents sender: an OPTIONS request with WebHook-Request-Origin. The answer grants
 * the rate that the workers sustain, in requests per minute, or any (`*`) while that is not known. A sender that is
 * not allowed gets 403 without those headers, which the specification takes for a no.
 *
 * Call it for OPTIONS requests only: a delivery has the same header.
 *
 * Source: "HTTP 1.1 Web Hooks for Event Delivery" 1.0.2, section 4.
 *
 * @returns undefined when the request is no handshake, such as a preflight of CORS.
 * @throws BackpressureError `ERR_WBP_ORIGINS` when `allowedOrigins` is something else.
 */
export function cloudEventsHandshake(
  intake: Pick<Intake, 'snapshot'>,
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
      'WebHook-Allowed-Rate': allowedRate(intake.snapshot().drainRate),
    },
  };
}

function allowedRate(perSecond: number | null): string {
  if (perSecond === null) return '*';
  // The specification knows no zero: who may not send at all gets no permission instead.
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

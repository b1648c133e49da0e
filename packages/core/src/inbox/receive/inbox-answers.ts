import type { Delivery } from '../../delivery/delivery.ts';
import type { SenderProfile } from '../../senders/sender-profile.ts';
import type { HandshakeReply } from '../options/inbox-options.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';

/** The answer to a request. */
export interface InboxAnswer {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response. */
  readonly body: string;
}

/** No content may follow them (RFC 9110). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/**
 * Acknowledges a stored delivery: with the only success status of its sender, if the profile names one, else with JSON and
 * the status for senders that accept any 2xx, or for all others.
 */
export function acknowledged(
  { success }: Pick<SenderProfile, 'success'>,
  { known, unknown }: InboxSettings['successStatus'],
  id: string,
  result: 'accepted' | 'duplicate',
): InboxAnswer {
  if (typeof success === 'number') return { status: success, headers: {}, body: '' };
  const status = success === '2xx' ? known : unknown;
  if (WITHOUT_BODY.has(status)) return { status, headers: {}, body: '' };
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return { status, headers, body: JSON.stringify({ id, status: result }) };
}

/** A problem document (RFC 9457). */
function problem(status: number, title: string, detail: string): InboxAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', 'Cache-Control': 'no-store' },
    body: JSON.stringify({ type: 'about:blank', title, status, detail }),
  };
}

export const UNVERIFIED: InboxAnswer = problem(401, 'Unauthorized', 'The delivery could not be verified.');

const NOT_ALLOWED = problem(405, 'Method Not Allowed', 'Deliveries are sent by POST.');
/** For a request that cannot be a delivery, where no other handler accepts it. */
export const METHOD_NOT_ALLOWED: InboxAnswer = {
  ...NOT_ALLOWED,
  headers: { ...NOT_ALLOWED.headers, Allow: 'POST' },
};

/** The answer to a request whose body did not arrive in time. */
export type BodyTimedOut = InboxAnswer & { readonly status: 408 | 429 | 503 };

const BODY_TIMED_OUT = {
  408: timedOut(408, 'Request Timeout'),
  429: timedOut(429, 'Too Many Requests'),
  503: timedOut(503, 'Service Unavailable'),
} as const;

function timedOut(status: BodyTimedOut['status'], title: string): BodyTimedOut {
  const { headers, body } = problem(status, title, 'The body did not arrive in time.');
  return { status, headers: { ...headers, Connection: 'close' }, body };
}

/**
 * For a body that the sender did not finish in time. The rest of it is not read.
 *
 * @param delivery - with the status after which its sender retries: to some senders, 408 is final. Default 408.
 */
export function bodyTimedOut({ statusCode }: Delivery): BodyTimedOut {
  return BODY_TIMED_OUT[statusCode ?? 408];
}

/** Whether a request with this method can carry a delivery. */
export function isDelivery(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

export function tooLarge(maxBytes: number): InboxAnswer {
  return problem(413, 'Content Too Large', `The body is larger than ${String(maxBytes)} bytes.`);
}

export function handshakeAnswer({ status = 200, headers = {}, body }: HandshakeReply): InboxAnswer {
  return { status, headers, body };
}

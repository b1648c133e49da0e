import type { SenderProfile } from '../../senders/sender-profile.ts';
import type { HandshakeReply } from '../options/inbox-options.ts';

/** The answer to a request. */
export interface InboxAnswer {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response. */
  readonly body: string;
}

/**
 * Acknowledges a stored delivery with the success status of its sender's profile, or with JSON: 202 for senders known to
 * take any 2xx, and 200 for all others, since several senders take nothing else.
 */
export function acknowledged(
  profile: SenderProfile | undefined,
  id: string,
  status: 'accepted' | 'duplicate',
): InboxAnswer {
  const success = profile?.success;
  if (typeof success === 'number') return { status: success, headers: {}, body: '' };
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return { status: success === '2xx' ? 202 : 200, headers, body: JSON.stringify({ id, status }) };
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

const TIMED_OUT = problem(408, 'Request Timeout', 'The body did not arrive in time.');
/** For a body that the sender did not finish in time. The rest of it is not read. */
export const BODY_TIMED_OUT: InboxAnswer = {
  ...TIMED_OUT,
  headers: { ...TIMED_OUT.headers, Connection: 'close' },
};

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

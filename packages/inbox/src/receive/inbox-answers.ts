import { BackpressureError } from '@webhook-backpressure/base';
import { type HttpAnswer, problem } from '@webhook-backpressure/core/middleware';
import { asksPermission, type RequestHeaders, type SenderProfile } from '@webhook-backpressure/senders';
import type { HandshakeReply } from '../options/inbox-options.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';

/** The answer to a request. */
export type InboxAnswer = HttpAnswer;

/** No content may follow them (RFC 9110). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/**
 * Acknowledges a stored delivery: with the only success status of its sender, if the profile names one, else with JSON and
 * the status for senders that accept any 2xx, or for all others.
 */
export function acknowledged(
  success: SenderProfile['success'],
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

export const UNVERIFIED: InboxAnswer = problem(401, 'Unauthorized', 'The delivery could not be verified.');

const NOT_ALLOWED = problem(405, 'Method Not Allowed', 'Deliveries are sent by POST.');
/** For a request that cannot be a delivery, where no other handler accepts it. */
export const METHOD_NOT_ALLOWED: InboxAnswer = {
  ...NOT_ALLOWED,
  headers: { ...NOT_ALLOWED.headers, Allow: 'POST' },
};

/** Whether a request can carry a delivery, or asks for permission to send deliveries. */
export function isForInbox(method: string | undefined, headers: () => RequestHeaders): boolean {
  if (method === 'OPTIONS') return asksPermission(method, headers());
  return method !== undefined && method !== 'GET' && method !== 'HEAD';
}

/**
 * The error for an inbox that is mounted for a whole app: it would acknowledge and store every request with a body.
 *
 * @param example - how to mount it at a path.
 * @param all - how to mount it in an app that receives nothing else.
 */
export function mountedForAll(example: string, all: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_MOUNT',
    'The inbox is mounted for the whole app, so it would store logins, forms and API calls. ' +
      `Mount it at the path of the webhooks: ${example}. In an app that receives nothing else: ${all}.`,
  );
}

export function tooLarge(maxBytes: number): InboxAnswer {
  return problem(413, 'Content Too Large', `The body is larger than ${String(maxBytes)} bytes.`);
}

export function handshakeAnswer({ status = 200, headers = {}, body }: HandshakeReply): InboxAnswer {
  return { status, headers, body };
}

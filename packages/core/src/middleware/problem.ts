import type { Delivery } from '../delivery/delivery.ts';

/** A response to a delivery. */
export interface HttpAnswer {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response. */
  readonly body: string;
}

/** The response to a delivery whose body did not arrive in time. */
export type BodyTimedOut = HttpAnswer & { readonly status: 408 | 429 | 503 };

/** A problem document (RFC 9457). */
export function problem(status: number, title: string, detail: string): HttpAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', 'Cache-Control': 'no-store' },
    body: JSON.stringify({ type: 'about:blank', title, status, detail }),
  };
}

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

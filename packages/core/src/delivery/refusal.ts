import type { RetryAfterHabit } from '@webhook-backpressure/senders';
import { DEFAULT_KEY } from './delivery.ts';

/**
 * Why a delivery was refused.
 *
 * - `shedding`: the queue is at or above the high-water mark, or not yet back at the low-water mark
 * - `full`: the queue is at the effective capacity
 * - `wait`: it would be, or has been, queued for too long
 * - `displaced`: a newer delivery took its place, by `overflow: 'drop-oldest'`, or because it would never be retried
 * - `pressure`: the process itself is overloaded, or the inbox cannot verify or store the delivery at present
 * - `shed`: its key is switched off by the option `shed`
 * - `closing`: the intake is shutting down
 */
export type RefusalReason = 'shedding' | 'full' | 'wait' | 'displaced' | 'pressure' | 'shed' | 'closing';

/** The answer to a refused delivery. Adapters send `status`, `headers` and `body` unchanged. */
export interface Refusal {
  /** Tells a refusal from an {@link Admission} or a {@link Permit}. */
  readonly admitted: false;
  /** Why the delivery was refused. */
  readonly reason: RefusalReason;
  /** The HTTP status of the response. */
  readonly status: 429 | 503;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** Retry-After, Content-Type and Cache-Control; while closing also Connection. */
  readonly headers: Record<string, string>;
  /** A problem document (RFC 9457), in ASCII. It reveals nothing about other keys or senders. */
  readonly body: string;
}

const DETAILS: Record<RefusalReason, string> = {
  shedding: 'The receiver has as many queued deliveries as it can handle in time.',
  full: "The receiver's queue is full.",
  wait: 'The delivery would wait too long, or has waited too long.',
  displaced: 'A newer delivery has taken the place of this one.',
  pressure: 'The receiver is overloaded, or cannot verify or store deliveries at present.',
  shed: 'Deliveries from this source are currently switched off.',
  closing: 'The receiver is shutting down.',
};

const PROBLEMS = {
  429: ['https://iana.org/assignments/http-problem-types#quota-exceeded', 'Quota Exceeded'],
  503: [
    'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    'Temporary Reduced Capacity',
  ],
} as const;

/** Not what the sender sent is too much, but that it sends: an operator has switched it off. */
const SHED = [
  'https://iana.org/assignments/http-problem-types#abnormal-usage-detected',
  'Abnormal Usage Detected',
] as const;

/** The name of the queue in `RateLimit-Policy`. */
export const POLICY = 'queue';

/** The bodies without the seconds at their end, by status and reason: built once, since refusing must be cheap. */
const BODIES = { 429: bodies(429), 503: bodies(503) };

function bodies(status: 429 | 503): Record<RefusalReason, string> {
  // The problem types of 429 name the policies that were violated; that of 503 has none.
  const violated = status === 429 ? { 'violated-policies': [POLICY] } : {};
  const body = (reason: RefusalReason): string => {
    const [type, title] = status === 429 && reason === 'shed' ? SHED : PROBLEMS[status];
    const members = { type, title, status, detail: DETAILS[reason], ...violated, reason };
    return `${JSON.stringify(members).slice(0, -1)},"retryAfterSeconds":`;
  };
  return {
    shedding: body('shedding'),
    full: body('full'),
    wait: body('wait'),
    displaced: body('displaced'),
    pressure: body('pressure'),
    shed: body('shed'),
    closing: body('closing'),
  };
}

export function createRefusal(
  reason: RefusalReason,
  status: 429 | 503,
  retryAfterSeconds: number,
  habit?: RetryAfterHabit | 'ignored',
): Refusal {
  const isInMs = typeof habit === 'object' && habit.unit === 'ms';
  const headers: Record<string, string> = {
    'Retry-After': String(isInMs ? retryAfterSeconds * 1000 : retryAfterSeconds),
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'no-store',
  };
  // An open connection would bring the next delivery to a process that is about to end.
  if (reason === 'closing') headers['Connection'] = 'close';
  return {
    admitted: false,
    reason,
    status,
    retryAfterSeconds,
    headers,
    body: `${BODIES[status][reason]}${String(retryAfterSeconds)}}`,
  };
}

/** The reason of a withdrawn delivery whose sender is still connected. */
export const REASON_OF = { expired: 'wait', displaced: 'displaced', closing: 'closing' } as const;
/** The refusal of a delivery whose sender has disconnected. It is never sent, and books no retry. */
export const UNSENT_REFUSAL: Refusal = Object.freeze(createRefusal('wait', 503, 1));

/**
 * The status `'auto'`: 429 for a key that is part of the cause, 503 otherwise. Unknown senders share the default key
 * and always get 503: several senders drop an event on 429 and retry it on 503 (Amazon SNS, SendGrid Inbound Parse,
 * Dialpad), and hardly any does the reverse.
 *
 * @param isCause - whether the key is part of the cause; called only if the result depends on it.
 */
export function statusOf(reason: RefusalReason, key: string, isCause: (key: string) => boolean): 429 | 503 {
  if (reason === 'pressure' || reason === 'closing' || key === DEFAULT_KEY) return 503;
  return isCause(key) ? 429 : 503;
}

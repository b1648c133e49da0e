import type { RetryAfterHabit } from '../senders/sender-profile.ts';

/**
 * Why a delivery was refused.
 *
 * - `shedding`: the queue is at or above the high-water mark, or not yet back at the low-water mark
 * - `full`: there is no place even in the reserve
 * - `wait`: it would wait, or has waited, too long
 * - `displaced`: `drop-oldest` pushed it out
 * - `pressure`: the process itself is overloaded
 * - `shed`: its key was switched off by hand
 * - `closing`: the intake is shutting down
 */
export type RefusalReason = 'shedding' | 'full' | 'wait' | 'displaced' | 'pressure' | 'shed' | 'closing';

/** The answer to a delivery that is not let in. Adapters send `status`, `headers` and `body` as they are. */
export interface Refusal {
  readonly admitted: false;
  readonly reason: RefusalReason;
  readonly status: 429 | 503;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** Retry-After, Content-Type, Cache-Control; while closing also Connection. */
  readonly headers: Record<string, string>;
  /** A problem document (RFC 9457), in ASCII. It says nothing about other keys or senders. */
  readonly body: string;
}

const DETAILS: Record<RefusalReason, string> = {
  shedding: 'The receiver has as many deliveries waiting as it can work off in time.',
  full: 'The queue of the receiver is full.',
  wait: 'The delivery could not be started in the time that its sender waits.',
  displaced: 'The delivery gave up its place in the queue to a newer one.',
  pressure: 'The receiver is overloaded.',
  shed: 'Deliveries of this source are switched off at the moment.',
  closing: 'The receiver is shutting down.',
};

const PROBLEMS = {
  429: ['https://iana.org/assignments/http-problem-types#quota-exceeded', 'Quota Exceeded'],
  503: [
    'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    'Temporary Reduced Capacity',
  ],
} as const;

/** All of the body but the seconds at its end, for each status and reason: made once, since refusing must be cheap. */
const BODIES = { 429: bodies(429), 503: bodies(503) };

function bodies(status: 429 | 503): Record<RefusalReason, string> {
  const [type, title] = PROBLEMS[status];
  const body = (reason: RefusalReason): string =>
    `${JSON.stringify({ type, title, status, detail: DETAILS[reason], reason }).slice(0, -1)},"retryAfterSeconds":`;
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
  // A connection that stays open would bring the next delivery to a process that is about to end.
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

/** What one that is taken out is told. One that went away is told nothing, and so is booked no second. */
export const REASON_OF = { expired: 'wait', displaced: 'displaced', closing: 'closing' } as const;
export const TO_NOBODY: Refusal = Object.freeze(createRefusal('wait', 503, 1));

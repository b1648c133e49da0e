/** So many deliveries … */
export const DELIVERIES = 3000;
/** … within so many seconds, evenly: 750 a second, at more than three times what the database can take. */
export const BURST_S = 4;
/** Without an answer after so long, the sender hangs up. */
export const SENDER_TIMEOUT_MS = 5000;
/** Told nothing, the sender waits so long before each further attempt, and 20 % more or less. */
export const BACKOFF_S: readonly number[] = [1, 2, 4, 8, 8, 8, 8];
export const MAX_ATTEMPTS: number = BACKOFF_S.length + 1;
/** So long after the burst began no further attempt is made, and what has not been delivered is lost. */
export const END_S = 100;

/** What pg takes when it is told nothing. */
export const POOL = 10;
/** What the queries of a real handler take, beside those that store the delivery. */
export const QUERY_S = 0.04;
/** Deliveries per second that the pool can work off, about. Limiters that need a rate are given this one. */
export const DRAIN_RATE = 200;
/** How long a delivery may wait: less than its sender does. */
export const MAX_WAIT_MS = 4000;

/** With `--stutter`, the receiver's process is stopped for so long … */
export const STOPPED_MS = 800;
/** … out of each so long … */
export const STUTTER_EVERY_MS = 2000;
/** … for so long from the beginning of the burst. */
export const STUTTER_MS = 14_000;

const RECEIVERS = [
  'nothing',
  'express-queue',
  'express-rate-limit',
  'under-pressure',
  'p-limit',
  'webhook-backpressure',
] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

/** The last run repeats that of the middleware, with senders that retry by their own schedule. */
export const RUNS = [...RECEIVERS, 'webhook-backpressure-ignored'] as const;
export type RunName = (typeof RUNS)[number];

export function receiverOf(run: RunName): ReceiverName {
  return run === 'webhook-backpressure-ignored' ? 'webhook-backpressure' : run;
}

/** How to reach the database. */
export interface Access {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

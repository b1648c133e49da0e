/** So many deliveries … */
export const DELIVERIES = 3000;
/** … within so many seconds, evenly: 750 a second, at more than three times what the database can take. */
export const BURST_S = 4;
/** The sender hangs up after this long without an answer. */
export const SENDER_TIMEOUT_MS = 5000;
/** Without Retry-After, the sender waits this long before each further attempt, plus or minus 20 %. */
export const BACKOFF_S: readonly number[] = [1, 2, 4, 8, 8, 8, 8];
export const MAX_ATTEMPTS: number = BACKOFF_S.length + 1;
/** This long after the burst began no further attempt is made: undelivered deliveries are lost. */
export const END_S = 100;

/** The default pool of pg. */
export const POOL = 10;
/** What the queries of a real handler take, beside those that store the delivery. */
export const QUERY_S = 0.04;
/** Deliveries per second that the pool can process, about. Limiters that need a rate are given this one. */
export const DRAIN_RATE = 200;
/** How long a delivery may wait: less than its sender does. */
export const MAX_WAIT_MS = 4000;

/** With `--stutter`, the receiver's process is stopped for this long … */
export const STOPPED_MS = 800;
/** … once in each such period … */
export const STUTTER_EVERY_MS = 2000;
/** … for this long from the beginning of the burst. */
export const STUTTER_MS = 14_000;

const RECEIVERS = ['nothing', 'express-queue', 'express-rate-limit', 'under-pressure', 'p-limit'] as const;
export type ReceiverName = (typeof RECEIVERS)[number] | 'webhook-backpressure' | 'webhook-inbox';

/** Ours come last. The first of them has senders that retry by their own schedule, as most do. */
export const RUNS = [
  ...RECEIVERS,
  'webhook-backpressure-ignored',
  'webhook-backpressure',
  'webhook-inbox',
] as const;
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

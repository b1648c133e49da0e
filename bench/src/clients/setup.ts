/** A burst, and a receiver whose workers need five seconds for it. */
export const DELIVERIES = 500;
export const HANDLING_MS = 50;
export const LIMITS: { readonly concurrency: number; readonly capacity: number } = {
  concurrency: 5,
  capacity: 50,
};
/** No receiver with so many workers is done earlier. */
export const IDEAL_S: number = (DELIVERIES * HANDLING_MS) / LIMITS.concurrency / 1000;

/** What each run must reach. */
export const MAX_ATTEMPTS = 2;
export const MAX_TIMES_IDEAL = 1.5;

export const CLIENTS = ['undici RetryAgent', 'got', 'ky', 'axios-retry'] as const;
export type ClientName = (typeof CLIENTS)[number];

export const RECEIVERS = ['Express', 'node:http'] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

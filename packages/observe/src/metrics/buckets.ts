/** Upper bounds for waits, handling times and commits, in seconds: 1 ms to 60 s. */
export const DURATION_BUCKETS: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10, 30, 60],
];

/** Upper bounds for Retry-After, in seconds: from the shortest possible value to the default `maxSeconds`. */
export const RETRY_AFTER_BUCKETS: readonly number[] = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
];

/** Upper bounds for the time from `send` to a delivery, in seconds: 10 ms to a day. */
export const LATENCY_BUCKETS: readonly number[] = [
  ...[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ...[300, 900, 3600, 21_600, 86_400],
];

/** Upper bounds for the waits that endpoints ask for, in seconds: from a second to a day. */
export const ENDPOINT_WAIT_BUCKETS: readonly number[] = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

/** Upper bounds for the events in one request, of which there are at most 500. */
export const REQUEST_BUCKETS: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500];

/** Upper bounds for the deliveries in one commit, of which there are at most 256. */
export const BATCH_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/**
 * The import, the sender and the receiver that both runs share. Time is compressed about eighteen-fold: 2,800
 * deliveries stand for 50,000 at the same rate, and the waits between attempts shrink with them, so that the time
 * a sender keeps trying and the time the receiver needs for all the work stay in proportion.
 */

/** A bulk import of 50,000 records in 40 s has this rate; the receiver can do 200 a second. */
export const IMPORT = { deliveries: 2800, perSecond: 1250 };

/**
 * Ordinary traffic before the import, not counted: a receiver that has just started is slow until its code is
 * compiled, and one in service is not.
 */
export const WARM_UP = { deliveries: 300, atOnce: 8, prefix: 'warm_' };

export const SENDER = {
  /** What GitHub and Square allow. Shopify allows 5 s, Slack 3 s. */
  timeoutMs: 10_000,
  /**
   * Used when there is no Retry-After. Four attempts in all is what Amazon SNS, by default, and Slack make. SNS
   * waits 20 s between them, one minute in all, while the work of 50,000 deliveries takes four; here it is 3.5 s
   * for work of 14 s.
   */
  backoffMs: [500, 1000, 2000],
  /** Each of these waits is longer or shorter by up to so much, at random. */
  jitter: 0.2,
};

/**
 * Against the inbox the sender has more patience: what is in the middle of a request when the process dies has lost an
 * attempt, and it dies twice. Still, most senders try for hours.
 */
export const INBOX_BACKOFF_MS: readonly number[] = [500, 1000, 2000, 4000, 8000];

/** Three receivers and three workers on one database, on one machine. */
export const FLEET = {
  receivers: 3,
  workers: 3,
  deliveries: 4000,
  /** Of the inbox. Small, so that the burst exceeds it. */
  capacity: 1000,
  /** A process or the database is down for so long, and for the time that it takes to start. */
  downMs: 1000,
  /** Each death happens when such a part of the import has been acknowledged. */
  deathsAt: { receiver: 0.15, worker: 0.3, database: 0.45 },
  /** Most senders try for hours. */
  backoffMs: [500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000],
};

/** The bulk import through our own sender, at full size, and its warm-up, which takes so long on an idle machine. */
export const BULK = { events: 50_000, warmUpEvents: 1000, warmUpS: 1 };

export const POOL = {
  /** The default of node-postgres. */
  max: 10,
  /**
   * The value in the README of pg-pool, uncompressed; its default is no limit. An import as small as this one
   * would get through a pool with 3 s or more, late but complete. One of full size would not: simulated, of 50,000
   * deliveries it loses 28,143 with a limit of 1 s, 25,021 with 5 s, and without any, when nearly every answer comes
   * after the sender has hung up, 47,619.
   */
  connectionTimeoutMs: 1000,
  queryFromMs: 40,
  queryToMs: 60,
};

/** A run of the default size takes about 15 s. A run that takes longer than this starts again with fewer deliveries. */
export const PATIENT_RUN_MS = 25_000;

/** The limit of a run whose size is fixed: it takes a fraction of this, also on a slow machine. */
export const RUN_LIMIT_MS = 120_000;

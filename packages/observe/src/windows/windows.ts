/** The last minute and the last five minutes, from slices of 5 s. */
export interface Windows {
  /**
   * The last slice that has ended, for charts of when something happened: 5 s long, and over for up to 5 s. All zero or
   * null in the first one.
   */
  readonly lastSlice: WindowFigures;
  /** The last 55 to 60 s. */
  readonly oneMinute: Window;
  /** The last 295 to 300 s. */
  readonly fiveMinutes: Window;
}

/** One window. Its figures begin with the observation. */
export interface Window {
  /** The part of the window that has been measured, in seconds: less than its length after the start. */
  readonly seconds: number;
  /** All deliveries. */
  readonly all: WindowFigures;
  /**
   * The 20 keys with the most counted arrivals, in that order. A key with more than 1 % of the arrivals of the last ten
   * minutes is always counted, and its counts lack at most that many deliveries. They include no other key's.
   */
  readonly keys: readonly NamedFigures[];
  /** The 20 recognized senders with the most arrivals, with the same accuracy. */
  readonly senders: readonly NamedFigures[];
}

/** The figures of a window. */
export interface WindowFigures {
  /** Deliveries that arrived. */
  readonly arrivals: number;
  /** Deliveries refused on arrival. */
  readonly refused: number;
  /** `refused` ÷ `arrivals`, from 0 to 1; 0 without arrivals. */
  readonly refusedRatio: number;
  /** Deliveries handled successfully. */
  readonly completed: number;
  /** Deliveries whose handling failed; in an inbox, attempts that failed. */
  readonly failed: number;
  /**
   * The wait of started deliveries, in milliseconds. In an inbox: of first attempts, since the delivery was received.
   */
  readonly waitMs: Percentiles;
  /** The handling time of completed and failed deliveries, in milliseconds. */
  readonly handlingMs: Percentiles;
  /** The Retry-After of refusals on arrival, in seconds. */
  readonly retryAfterSeconds: Percentiles;
}

/**
 * Percentiles by the nearest rank, from a histogram: accurate to 6 %. 0 means a value below 1, and values above 24 h
 * count as 24 h. Null without values.
 */
export interface Percentiles {
  /** Half of the values are at most this. */
  readonly p50: number | null;
  /** 99 % of the values are at most this. */
  readonly p99: number | null;
}

/** The figures of one key or sender. */
export interface NamedFigures extends WindowFigures {
  /** The key, or the name of the sender. */
  readonly name: string;
}

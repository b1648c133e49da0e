/** Request headers in the form of node:http: lowercase names, and an array for a repeated header. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How a sender treats the Retry-After of a refusal. */
export interface RetryAfterHabit {
  /** The unit in which the sender reads Retry-After. Some senders read milliseconds instead of seconds. */
  readonly unit: 's' | 'ms';
  /** The sender raises smaller values to this one. Seconds, ≥ 0. Default: the intake's `retryAfter.minSeconds`. */
  readonly minSeconds?: number | undefined;
  /** The sender lowers larger values to this one. Seconds, ≥ `minSeconds`. Default: the intake's `retryAfter.maxSeconds`. */
  readonly maxSeconds?: number | undefined;
  /**
   * The sender raises and lowers the value to between `min` and `max` times the next step of its schedule. The
   * receiver cannot know that step, so only simulations use this.
   */
  readonly steps?: { readonly min: number; readonly max: number } | undefined;
}

/** What a sender can get instead of a success: a refusal with this status, or no answer before its timeout. */
export type FailedAttempt = 429 | 503 | 'timeout';

/** When a sender retries, and when it gives up. */
export interface RetrySchedule {
  /** Attempts in all, including the first. Integer ≥ 1. */
  readonly maxAttempts?: number | undefined;
  /**
   * Seconds between the attempts, each ≥ 0. The last step repeats up to `maxAttempts` or `windowS`; without both, the
   * sender gives up after the last step.
   */
  readonly scheduleS?: readonly number[] | undefined;
  /** Seconds after the first attempt until the sender gives up, > 0. */
  readonly windowS?: number | undefined;
  /** After what the sender retries; after anything else it gives up. Default: after all of them. */
  readonly after?: readonly FailedAttempt[] | undefined;
}

/**
 * When a sender disables an endpoint: after consecutive failures, above a share of failures in a window, or after a
 * number of failures in a window. Whichever comes first.
 */
export interface SwitchOffRule {
  /** Consecutive failures. Integer ≥ 1. */
  readonly inARow?: number | undefined;
  /** The share of failures within `windowS`, above 0 and up to 1. */
  readonly ratio?: number | undefined;
  /** The sender applies `ratio` only to this many answers within `windowS`, or more. Integer ≥ 1. Default 20. */
  readonly minAnswers?: number | undefined;
  /** Failures within `windowS`. Integer ≥ 1. */
  readonly count?: number | undefined;
  /** The window of `ratio` and `count`, in seconds, > 0. */
  readonly windowS?: number | undefined;
  /**
   * For how long the endpoint is disabled, in seconds, > 0: the first time, the second time, and so on; the last value
   * repeats. Default: until someone enables it.
   */
  readonly offS?: readonly number[] | undefined;
}

/** A header, and optionally its value: an exact string or a pattern. */
export interface HeaderMatch {
  /** The header name, in any case. */
  readonly header: string;
  /**
   * If absent, any value matches. A pattern sees the first 1,024 characters of the value; its flags `g` and `y` are
   * ignored.
   */
  readonly value?: string | RegExp | undefined;
}

/** What is known about a sender: how its requests are recognized, and how it reacts to refusals. */
export interface SenderProfile {
  /** The sender's name, also the key of its deliveries unless `keyGenerator` returns another. Profiles may share a name. */
  readonly name: string;
  /**
   * The header that identifies the sender's requests. `all`: every request, for a route that only this sender uses. In
   * the option `senders`, only the last profile may match all.
   */
  readonly match: HeaderMatch | 'all';
  /**
   * The header that holds the delivery id: the same for all attempts of a delivery, and different for each delivery.
   * Default: `webhook-id`, if present.
   */
  readonly id?: string | undefined;
  /**
   * How long the sender waits for an answer, in milliseconds, > 0. A delivery is queued for at most this time minus
   * 20 % (at least 0.5 s), which is left for the handler and the response. Default: `maxWaitMs` alone applies.
   */
  readonly timeoutMs?: number | undefined;
  /** The refusal status after which the sender retries. Default: the intake's `statusCode`. */
  readonly status?: 429 | 503 | undefined;
  /**
   * How the sender retries. `none`: never, so its deliveries may use the part of the queue reserved for deliveries that
   * would be lost. Default: it retries on an unknown schedule.
   */
  readonly retries?: 'none' | RetrySchedule | undefined;
  /** How the sender treats Retry-After. `ignored`: not at all, so no retry is booked. Default: it honors seconds. */
  readonly retryAfter?: RetryAfterHabit | 'ignored' | undefined;
  /**
   * The header that distinguishes a handshake from a delivery: with this value, or present with any value if `value`
   * is absent. Default of `header`: that of `match`.
   */
  readonly handshake?:
    { readonly header?: string | undefined; readonly value?: string | RegExp | undefined } | undefined;
  /**
   * What the sender counts as success: only this status, 200 to 299, or any `2xx`. Default: unknown, so an inbox
   * acknowledges with 200.
   */
  readonly success?: number | '2xx' | undefined;
  /** When the sender disables the endpoint. The event `endangered` reports it once, before it happens. */
  readonly switchOff?: SwitchOffRule | undefined;
  /** Where these facts come from: a URL, or the name of a page. */
  readonly source: string;
  /** When they were checked: a date, YYYY-MM-DD. */
  readonly verifiedAt: string;
}

/** A profile that identifies its sender by a header. */
export interface HeaderSenderProfile extends SenderProfile {
  /** The header that identifies the sender's requests. */
  readonly match: HeaderMatch;
}

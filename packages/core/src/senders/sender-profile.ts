/** The headers of a request as node:http gives them: names in lower case, and a list where one is there several times. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How a sender treats the Retry-After of a refusal. */
export interface RetryAfterHabit {
  /** Its unit of Retry-After; some read milliseconds where the standard says seconds. */
  readonly unit: 's' | 'ms';
  /** What it takes a smaller value for, in seconds, ≥ 0. Default the intake's own bound. */
  readonly minSeconds?: number | undefined;
  /** What it takes a larger value for, in seconds, ≥ `minSeconds`. Default the intake's own bound. */
  readonly maxSeconds?: number | undefined;
}

/** What makes a sender switch an endpoint off: so many failures in a row, or so large a share of them in a window. */
export interface SwitchOffRule {
  /** Failures in a row. Integer ≥ 1. */
  readonly inARow?: number | undefined;
  /** Share of failures, above 0 and up to 1, over `windowS`. */
  readonly ratio?: number | undefined;
  /** The window of `ratio`, in seconds, > 0. */
  readonly windowS?: number | undefined;
}

/** Which value a header must have: this string exactly, or what the pattern finds. */
export interface HeaderMatch {
  /** The name of the header, in any case. */
  readonly header: string;
  /**
   * Without it, it is enough that the header is there. A pattern sees the first 1,024 characters of the value; its
   * flags `g` and `y` are ignored.
   */
  readonly value?: string | RegExp | undefined;
}

/** What is known about a sender: how it is recognised, and how it treats a receiver that refuses. */
export interface SenderProfile {
  /** Also the key of its deliveries, unless `keyGenerator` says otherwise. Several profiles may have one name. */
  readonly name: string;
  /** It is recognised by this header, which must be there and, when `value` is given, have or match that value. */
  readonly match: HeaderMatch;
  /**
   * The header that holds the delivery id: the same at each attempt of a delivery, and another for each delivery.
   * Default `webhook-id`, whenever that is there.
   */
  readonly id?: string | undefined;
  /**
   * How long it waits for an answer, in milliseconds, > 0. A delivery waits less long than that in the queue: by a
   * fifth, and by half a second at least, which remain for the handler and for the way back.
   */
  readonly timeoutMs?: number | undefined;
  /** The status that makes it come back. Default: what the intake's `statusCode` says. */
  readonly status?: 429 | 503 | undefined;
  /** How it retries. `none`: never, so that its deliveries may use the reserve. Default: it does, in some way. */
  readonly retries?:
    | 'none'
    | {
        /** Attempts in all, the first one counted. Integer ≥ 1. */
        readonly maxAttempts?: number | undefined;
        /** Seconds between the attempts, each ≥ 0. */
        readonly scheduleS?: readonly number[] | undefined;
        /** Seconds from the first attempt after which it gives up, > 0. */
        readonly windowS?: number | undefined;
      }
    | undefined;
  /** What it makes of Retry-After; `ignored`: nothing, so no second is booked for it. Default: it honours seconds. */
  readonly retryAfter?: RetryAfterHabit | 'ignored' | undefined;
  /**
   * The header that tells a handshake from a delivery: with `value`, it has or matches that value, without, it is
   * there. `header` is by default the one of `match`.
   */
  readonly handshake?:
    { readonly header?: string | undefined; readonly value?: string | RegExp | undefined } | undefined;
  /** The status that it takes for a success, 200 to 299, where not any 2xx will do. */
  readonly success?: number | undefined;
  /** What makes it switch the endpoint off; reported once before it happens. */
  readonly switchOff?: SwitchOffRule | undefined;
  /** Where this was read: an address, or the name of the page. */
  readonly source: string;
  /** When it was read: a date, YYYY-MM-DD. */
  readonly verifiedAt: string;
}

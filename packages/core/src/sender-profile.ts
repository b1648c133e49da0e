/** How a sender treats the Retry-After of a refusal. */
export interface RetryAfterHabit {
  /** Its unit of Retry-After; some read milliseconds where the standard says seconds. */
  readonly unit: 's' | 'ms';
  /** What it takes a smaller value for, in seconds. Default the intake's own bound. */
  readonly minSeconds?: number | undefined;
  /** What it takes a larger value for, in seconds. Default the intake's own bound. */
  readonly maxSeconds?: number | undefined;
}

/** What makes a sender switch an endpoint off. */
export interface SwitchOffRule {
  /** Failures in a row. */
  readonly inARow?: number | undefined;
  /** Share of failures, from 0 to 1, over a window in seconds. */
  readonly ratio?: number | undefined;
  readonly windowS?: number | undefined;
}

/** What is known about a sender: how it is recognised, and how it treats a receiver that refuses. */
export interface SenderProfile {
  /** Also the key of its deliveries, unless `keyGenerator` says otherwise. */
  readonly name: string;
  /** It is recognised by this header, which must be there and, when `value` is given, have or match that value. */
  readonly match: { readonly header: string; readonly value?: string | RegExp | undefined };
  /** The header that holds the delivery id, the same at each attempt. */
  readonly id?: string | undefined;
  /** How long it waits for an answer, in milliseconds. A delivery waits less long than that in the queue. */
  readonly timeoutMs?: number | undefined;
  /** The status that makes it come back. Default: what the intake's `statusCode` says. */
  readonly status?: 429 | 503 | undefined;
  /** How it retries. `none`: never, so that its deliveries may use the reserve. Default: it does, in some way. */
  readonly retries?:
    | 'none'
    | {
        /** Attempts in all, the first one counted. */
        readonly maxAttempts?: number | undefined;
        /** Seconds between the attempts. */
        readonly scheduleS?: readonly number[] | undefined;
        /** Seconds from the first attempt after which it gives up. */
        readonly windowS?: number | undefined;
      }
    | undefined;
  /** What it makes of Retry-After; `ignored`: nothing, so no second is booked for it. Default: it honours seconds. */
  readonly retryAfter?: RetryAfterHabit | 'ignored' | undefined;
  /** The header that tells a handshake from a delivery. */
  readonly handshake?:
    { readonly header?: string | undefined; readonly value?: string | RegExp | undefined } | undefined;
  /** The status that it takes for a success, where not any 2xx will do. */
  readonly success?: number | undefined;
  /** What makes it switch the endpoint off; reported once before it happens. */
  readonly switchOff?: SwitchOffRule | undefined;
  /** Where this was read: an address, or the name of the page. */
  readonly source: string;
  /** When it was read: a date, YYYY-MM-DD. */
  readonly verifiedAt: string;
}

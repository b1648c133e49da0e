/** The result of a run. */
export interface ReconcileResult {
  /** The time from which on events were asked for. */
  readonly since: Date;
  /**
   * The events before this time need no further run: 5 minutes before the run began, by the earlier one of the API's clock
   * and the own. `since` if the run has failed, or was dry.
   */
  readonly mark: Date;
  /** Events of the source. GitHub's and Stripe's are those that were not delivered. */
  readonly found: number;
  /** Events that the inbox did not have. */
  readonly missed: number;
  /** Those that are in the inbox now. */
  readonly added: number;
  /** Those that the sender was asked to deliver again. */
  readonly requested: number;
  /** Those that the inbox cannot take, such as bodies over `maxBodyBytes`. */
  readonly skipped: number;
  /** Requests to the API, including those that were repeated after a 429. */
  readonly requests: number;
  /** The duration, in milliseconds. */
  readonly tookMs: number;
  /** Why the run ended early, or has left an event to the next run; undefined if it is complete. */
  readonly error: string | undefined;
}

/** An event of a reconciler: a plain object. `at`: milliseconds on the clock of the reconciler. */
export type ReconcileEvent = { readonly at: number } &
  /** The inbox does not have an event. `happenedAt`: by the clock of the sender. */
  (
    | {
        readonly type: 'missed';
        readonly id: string;
        readonly sender: string | undefined;
        readonly happenedAt: Date;
      }
    /** It cannot be added. Reported once by a process. */
    | { readonly type: 'skipped'; readonly id: string; readonly error: string }
    /** The inbox is full, or its store does not work: the run waits. Reported once for each wait. */
    | { readonly type: 'waiting'; readonly error: string }
    /** A run has ended, completely or with `result.error`. */
    | { readonly type: 'run'; readonly result: ReconcileResult }
  );

/** Receives the events of a reconciler. What it throws or rejects with is ignored. */
export type ReconcileListener = (event: ReconcileEvent) => unknown;

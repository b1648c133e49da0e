import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';

/** How many keys of one sender are watched. The one whose run began first is forgotten first. */
const MAX_KEYS = 1000;

/** The consecutive failures of one key of a sender. */
export class FailureRun {
  readonly sender: string;
  readonly key: string;
  failures = 0;
  /** Queued deliveries that are refused only after a success, in the order of their arrival. */
  readonly deferred: Set<AdmittedDelivery> = new Set<AdmittedDelivery>();
  /** The delivery that was started out of turn, so that its success ends the run. */
  urgent: AdmittedDelivery | null = null;
  /** Deliveries that an inbox stores so that their acknowledgement ends the run. */
  pending = 0;

  constructor(sender: string, key: string) {
    this.sender = sender;
    this.key = key;
  }

  get isHeld(): boolean {
    return this.urgent !== null || this.deferred.size > 0 || this.pending > 0;
  }
}

/**
 * The consecutive failures of senders that disable an endpoint after a number of them. They are counted by sender and
 * key: a sender counts them by endpoint, and a success at one endpoint does not end the run of another.
 */
export class FailureRuns {
  readonly #bySender = new Map<string, Map<string, FailureRun>>();
  readonly #ended: (run: FailureRun) => void;

  /** @param ended - called when a run has ended or is forgotten. */
  constructor(ended: (run: FailureRun) => void) {
    this.#ended = ended;
  }

  /** Keys that have got a failure since their last success. */
  get size(): number {
    let size = 0;
    for (const runs of this.#bySender.values()) size += runs.size;
    return size;
  }

  /** Whether there are any. */
  get any(): boolean {
    return this.#bySender.size > 0;
  }

  find(sender: string, key: string): FailureRun | undefined {
    return this.#bySender.get(sender)?.get(key);
  }

  /** A sender has got a failure. */
  fail(sender: string, key: string): FailureRun {
    const run = this.open(sender, key);
    run.failures += 1;
    return run;
  }

  /** The run of a key, which has no failures if it is new. */
  open(sender: string, key: string): FailureRun {
    let runs = this.#bySender.get(sender);
    if (runs === undefined) {
      runs = new Map();
      this.#bySender.set(sender, runs);
    }
    let run = runs.get(key);
    if (run === undefined) {
      if (runs.size >= MAX_KEYS) this.#forgetFirst(runs);
      run = new FailureRun(sender, key);
      runs.set(key, run);
    }
    return run;
  }

  /** A sender has got a success. */
  end(sender: string, key: string): void {
    const run = this.find(sender, key);
    if (run === undefined) return;
    run.failures = 0;
    this.#ended(run);
    this.forget(run);
  }

  /** Forgets a run without failures, unless it holds deliveries. */
  forget(run: FailureRun): void {
    if (run.failures > 0 || run.isHeld) return;
    const runs = this.#bySender.get(run.sender);
    if (runs?.get(run.key) !== run) return;
    runs.delete(run.key);
    if (runs.size === 0) this.#bySender.delete(run.sender);
  }

  #forgetFirst(runs: Map<string, FailureRun>): void {
    for (const run of runs.values()) {
      runs.delete(run.key);
      this.#ended(run);
      return;
    }
  }
}

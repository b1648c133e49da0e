/** The events of one second of a run. Second `s` is [s, s + 1). */
export interface Second {
  /** First attempts. */
  arrivals: number;
  /** Second and later attempts. */
  retries: number;
  refusals: number;
  completions: number;
  /** The maximum number of queued deliveries. */
  depth: number;
  /** The sum of Retry-After over all refusals. */
  retryAfterS: number;
}

/** Counts events per second. */
class Series {
  readonly seconds: Second[] = [];
  #current = emptySecond(0);
  #currentIndex = -1;
  #depth = 0;

  at(nowMs: number): Second {
    const index = Math.floor(nowMs / 1000);
    if (index === this.#currentIndex) return this.#current;
    // A second starts with the depth at the end of the previous one.
    for (let next = this.seconds.length; next <= index; next += 1) {
      this.#current = emptySecond(this.#depth);
      this.seconds.push(this.#current);
    }
    this.#currentIndex = index;
    return this.#current;
  }

  depth(depth: number, nowMs: number): void {
    const second = this.at(nowMs);
    this.#depth = depth;
    if (depth > second.depth) second.depth = depth;
  }
}

function emptySecond(depth: number): Second {
  return { arrivals: 0, retries: 0, refusals: 0, completions: 0, depth, retryAfterS: 0 };
}

/** What was seen of the receivers of a fleet. */
export interface FleetResults {
  /** Of the retries that returned in their booked second, the part that was admitted; null without any. */
  readonly promisesKept: number | null;
  /** The highest sum of the receivers' concurrency ÷ the limit of the fleet. */
  readonly peakShares: number;
  /** The longest time for which that sum was above the limit, in seconds. */
  readonly overS: number;
  /** Requests, and what became of them, by receiver. */
  readonly perReceiver: readonly {
    readonly attempts: number;
    readonly refused: number;
    readonly delivered: number;
  }[];
}

/** Observations of an inbox; arrays have one entry per delivery. */
export class InboxObservations {
  /** When the sender got the first acknowledgement; NaN without one. In ms of the run. */
  readonly acknowledgedMs: Float64Array;
  /** Attempts that the inbox recognized as duplicates by their id. */
  duplicates = 0;

  constructor(count: number) {
    this.acknowledgedMs = new Float64Array(count).fill(NaN);
  }

  acknowledged(i: number, nowMs: number): void {
    if (Number.isNaN(this.acknowledgedMs[i])) this.acknowledgedMs[i] = nowMs;
  }
}

/** Whether and when a sender has disabled its endpoint. */
export interface SwitchOffs {
  /** How often. */
  readonly switchedOff: number;
  /** The first time; NaN if never. */
  readonly firstOffMs: number;
  /** Attempts that were due meanwhile, and were not made. */
  readonly missed: number;
}

/** The observations of a run; arrays with a fixed length have one entry per delivery. Times are ms of the run. */
export class Observations {
  readonly attempts: Uint32Array;
  readonly refusals: Uint32Array;
  /** How often the handler has run to its end, also for senders that had disconnected. */
  readonly handlings: Uint32Array;
  /** When the handling ended; NaN for a lost delivery. */
  readonly completedMs: Float64Array;
  /** The time in the queue before the handling. */
  readonly waitedMs: Float64Array;
  lost = 0;
  gateToggles = 0;
  maxDepth = 0;
  /** Of a run with several receivers. */
  fleet: FleetResults | undefined;
  /** By index of the sender. */
  readonly endpoints: readonly SwitchOffs[];
  /** Of a run with an inbox. */
  inbox: InboxObservations | undefined;
  readonly series: Series = new Series();
  /** Each interval in which a worker was busy with one delivery, ordered by end. */
  readonly busyFromMs: number[] = [];
  readonly busyToMs: number[] = [];

  constructor(count: number, endpoints: readonly SwitchOffs[] = []) {
    this.endpoints = endpoints;
    this.attempts = new Uint32Array(count);
    this.refusals = new Uint32Array(count);
    this.handlings = new Uint32Array(count);
    this.completedMs = new Float64Array(count).fill(NaN);
    this.waitedMs = new Float64Array(count);
  }

  attempted(i: number, nowMs: number): void {
    const attempts = (this.attempts[i] as number) + 1;
    this.attempts[i] = attempts;
    const second = this.series.at(nowMs);
    if (attempts === 1) second.arrivals += 1;
    else second.retries += 1;
  }

  refused(i: number, retryAfterS: number, nowMs: number): void {
    this.refusals[i] = (this.refusals[i] as number) + 1;
    const second = this.series.at(nowMs);
    second.refusals += 1;
    second.retryAfterS += retryAfterS;
  }

  handled(i: number): void {
    this.handlings[i] = (this.handlings[i] as number) + 1;
  }

  wasBusy(fromMs: number, toMs: number): void {
    this.busyFromMs.push(fromMs);
    this.busyToMs.push(toMs);
  }

  completed(i: number, waitedMs: number, nowMs: number): void {
    this.completedMs[i] = nowMs;
    this.waitedMs[i] = waitedMs;
    this.series.at(nowMs).completions += 1;
  }

  depth(depth: number, nowMs: number): void {
    if (depth > this.maxDepth) this.maxDepth = depth;
    this.series.depth(depth, nowMs);
  }
}

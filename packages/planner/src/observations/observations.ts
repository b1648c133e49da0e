import type { FleetResults } from './fleet-results.ts';
import type { InboxObservations } from './inbox-observations.ts';
import { Series } from './series.ts';

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

import type { ManualClock } from '@webhook-backpressure/core/testing';
import type { FleetResults } from '../observations/fleet-results.ts';
import type { Observations } from '../observations/observations.ts';
import { Receiver, type ReceiverLimits } from '../receivers/receiver.ts';
import type { Fleet, Scenario } from '../scenario/scenario.ts';
import { Registry } from '../receivers/registry.ts';
import { startsPerSecondOf, workersOf } from '../traffic/workers.ts';

const SAMPLE_MS = 200;

/** Creates the receivers of a fleet, and watches them: the sum of their shares, and whether promises are kept. */
export class FleetWatch {
  readonly #scenario: Scenario;
  readonly #fleet: Fleet;
  readonly #clock: ManualClock;
  readonly #registry: Registry;
  readonly #limit: number;
  /** When the retry of a delivery is booked; NaN without a booking. */
  readonly #promisedMs: Float64Array;
  #kept = 0;
  #missed = 0;
  #peak = 0;
  #overSinceMs = NaN;
  #overMs = 0;

  constructor(scenario: Scenario, fleet: Fleet, clock: ManualClock, count: number) {
    this.#scenario = scenario;
    this.#fleet = fleet;
    this.#clock = clock;
    this.#registry = new Registry(fleet, clock);
    this.#limit = workersOf(scenario);
    this.#promisedMs = new Float64Array(count).fill(NaN);
  }

  join(index: number, seen: Observations): Receiver {
    const receiver = new Receiver(index, this.#scenario, this.#limits(index), this.#clock, seen);
    if (this.#fleet.registry) {
      const startsPerSecond = startsPerSecondOf(this.#scenario);
      const drainRate = startsPerSecond === Infinity ? undefined : startsPerSecond;
      this.#registry.join(receiver, { concurrency: this.#limit, drainRate });
    }
    return receiver;
  }

  /** Samples the shares until the end of the run. */
  begin(receivers: readonly Receiver[]): void {
    const now = this.#clock.now();
    const sum = receivers.reduce(
      (total, { intake, isAlive }) => total + (isAlive ? intake.snapshot().concurrency : 0),
      0,
    );
    this.#peak = Math.max(this.#peak, sum);
    if (sum <= this.#limit) this.#overSinceMs = NaN;
    else if (Number.isNaN(this.#overSinceMs)) this.#overSinceMs = now;
    else this.#overMs = Math.max(this.#overMs, now - this.#overSinceMs);
    this.#clock.setTimeout(() => {
      this.begin(receivers);
    }, SAMPLE_MS);
  }

  promised(i: number, dueMs: number): void {
    this.#promisedMs[i] = dueMs;
  }

  /** A delivery was attempted. */
  returned(i: number, isAdmitted: boolean, now: number): void {
    const dueMs = this.#promisedMs[i] as number;
    if (Number.isNaN(dueMs)) return;
    this.#promisedMs[i] = NaN;
    if (Math.abs(now - dueMs) >= 1000) return;
    if (isAdmitted) this.#kept += 1;
    else this.#missed += 1;
  }

  results(receivers: readonly Receiver[]): FleetResults {
    const returned = this.#kept + this.#missed;
    return {
      promisesKept: returned === 0 ? null : rounded(this.#kept / returned),
      peakShares: rounded(this.#peak / this.#limit),
      overS: this.#overMs / 1000,
      perReceiver: receivers.map(({ attempts, refusals, completions }) => ({
        ...{ attempts, refused: refusals, delivered: completions },
      })),
    };
  }

  /** An equal share, the first receivers get one more if it does not come out even. */
  #limits(index: number): ReceiverLimits {
    const { receivers } = this.#fleet;
    const startsPerSecond = startsPerSecondOf(this.#scenario);
    const extra = index < this.#limit % receivers ? 1 : 0;
    return {
      concurrency: Math.max(1, Math.floor(this.#limit / receivers) + extra),
      drainRate: startsPerSecond === Infinity ? undefined : startsPerSecond / receivers,
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

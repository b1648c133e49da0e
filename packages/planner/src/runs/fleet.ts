import type { Clock } from '@webhook-backpressure/base';
import type { Intake } from '@webhook-backpressure/core';
import {
  type FleetBeat,
  type FleetRegistry,
  type FleetView,
  joinFleet,
  memoryRegistry,
} from '@webhook-backpressure/fleet';
import { type ManualClock } from '@webhook-backpressure/core/testing';
import { rounded, stream, type Random } from '../base/numbers.ts';
import type { Fleet, Scenario } from '../scenario/scenario.ts';
import type { Balancing } from '../scenario/scenario-input.ts';
import type { FleetResults, Observations } from '../senders/observations.ts';
import { startsPerSecondOf, workersOf } from '../traffic/traffic.ts';
import { intakeOf, type ReceiverLimits } from './receivers.ts';

/** A receiver, as the balancer sees it. */
export interface Balanced {
  readonly index: number;
  /** Open requests: queued or being handled. */
  connections: number;
}

/** Distributes requests over the living receivers. A dead receiver gets no requests from its death on. */
export class Balancer<R extends Balanced> {
  readonly #how: Balancing;
  readonly #random: Random;
  readonly #living: R[] = [];
  #turn = 0;

  constructor(how: Balancing, seed: number) {
    this.#how = how;
    this.#random = stream(seed, 'balancer');
  }

  add(receiver: R): void {
    this.#living.push(receiver);
  }

  remove(receiver: R): void {
    this.#living.splice(this.#living.indexOf(receiver), 1);
  }

  /** The receiver of an attempt of delivery `i`. */
  choose(i: number): R {
    const living = this.#living;
    if (this.#how === 'random') return living[Math.floor(this.#random() * living.length)] as R;
    if (this.#how === 'hash') return best(living, (receiver) => weight(i, receiver.index));
    // With least-connections too: of receivers with equally few, each gets its turn.
    this.#turn = (this.#turn + 1) % living.length;
    if (this.#how === 'round-robin') return living[this.#turn] as R;
    const rotated = [...living.slice(this.#turn), ...living.slice(0, this.#turn)];
    return best(rotated, (receiver) => -receiver.connections);
  }
}

function best<R>(receivers: readonly R[], rank: (receiver: R) => number): R {
  return receivers.reduce((first, other) => (rank(other) > rank(first) ? other : first));
}

/** Rendezvous hashing: a delivery stays with its receiver when others join or die. */
function weight(i: number, receiver: number): number {
  let hash = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(receiver + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** One of several receivers behind a balancer. */
export class Receiver implements Balanced {
  readonly index: number;
  readonly intake: Intake;
  connections = 0;
  isAlive = true;
  attempts = 0;
  refusals = 0;
  completions = 0;
  readonly #clock: Clock;
  /** The number of bookings, and the second in which it was read: bookings come due in whole seconds. */
  #booked = 0;
  #bookedAtS = -1;

  constructor(index: number, scenario: Scenario, limits: ReceiverLimits, clock: Clock, seen: Observations) {
    this.index = index;
    this.#clock = clock;
    this.intake = intakeOf(scenario, clock, seen, { index, limits });
  }

  /** Called before each attempt: see {@link hasBooked}. */
  look(): void {
    const second = Math.floor(this.#clock.now() / 1000);
    if (second === this.#bookedAtS) return;
    this.#bookedAtS = second;
    this.#booked = this.intake.snapshot().booked;
  }

  /** Whether the last refusal has booked the retry. */
  hasBooked(): boolean {
    const { booked } = this.intake.snapshot();
    const has = booked > this.#booked;
    this.#booked = booked;
    return has;
  }
}

/** How long a beat takes. */
const BEAT_MS = 5;
const SAMPLE_MS = 200;

/**
 * Creates the receivers of a fleet with their registry, and watches them: the sum of their shares, and whether promises
 * are kept.
 */
export class FleetWatch {
  readonly #scenario: Scenario;
  readonly #fleet: Fleet;
  readonly #clock: ManualClock;
  readonly #registry: FleetRegistry;
  /** Of all receivers together. */
  readonly #limit: number;
  readonly #maxStartsPerSecond: number | undefined;
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
    this.#registry = memoryRegistry(clock);
    this.#limit = workersOf(scenario);
    const startsPerSecond = startsPerSecondOf(scenario);
    this.#maxStartsPerSecond = startsPerSecond === Infinity ? undefined : startsPerSecond;
    this.#promisedMs = new Float64Array(count).fill(NaN);
  }

  /** Creates a receiver with an equal share. The first ones get one more if it does not come out even. */
  join(index: number, seen: Observations): Receiver {
    const { receivers, registry } = this.#fleet;
    const extra = index < this.#limit % receivers ? 1 : 0;
    const limits = {
      concurrency: Math.max(1, Math.floor(this.#limit / receivers) + extra),
      maxStartsPerSecond:
        this.#maxStartsPerSecond === undefined ? undefined : this.#maxStartsPerSecond / receivers,
    };
    const receiver = new Receiver(index, this.#scenario, limits, this.#clock, seen);
    if (registry) {
      joinFleet(receiver.intake, {
        registry: { beat: (beat: FleetBeat) => this.#beat(beat, receiver) },
        resource: 'downstream',
        concurrency: this.#limit,
        maxStartsPerSecond: this.#maxStartsPerSecond,
        instances: receivers,
      });
    }
    return receiver;
  }

  /** While the registry is away, calls fail. A dead receiver does not call it. */
  async #beat(beat: FleetBeat, receiver: Receiver): Promise<FleetView> {
    await new Promise<void>((resolve) => {
      if (receiver.isAlive) this.#clock.setTimeout(resolve, BEAT_MS);
    });
    const nowS = this.#clock.now() / 1000;
    if (this.#fleet.registryAway.some(({ fromS, toS }) => fromS <= nowS && nowS < toS)) {
      throw new Error('The registry is away.');
    }
    return this.#registry.beat(beat);
  }

  /** Samples the shares until the end of the run. */
  begin(receivers: readonly Receiver[]): void {
    const now = this.#clock.now();
    const living = receivers.filter(({ isAlive }) => isAlive);
    const sum = living.reduce((total, { intake }) => total + intake.snapshot().concurrency, 0);
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
    return {
      promisesKept: rounded(this.#kept / (this.#kept + this.#missed)),
      peakShares: rounded(this.#peak / this.#limit) ?? 0,
      overS: this.#overMs / 1000,
      perReceiver: receivers.map(({ attempts, refusals, completions }) => ({
        attempts,
        refused: refusals,
        delivered: completions,
      })),
    };
  }
}

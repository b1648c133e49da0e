import { createIntake, type Intake, type Permit, type Refusal } from '@webhook-backpressure/core';
import type { Clock } from '@webhook-backpressure/base';
import type { Balanced } from './balancer.ts';
import type { Observations } from '../observations/observations.ts';
import { optionsUnder } from '../scenario/policy.ts';
import { stream } from '../base/random.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** The limits of one receiver. */
export interface ReceiverLimits {
  readonly concurrency: number;
  readonly drainRate: number | undefined;
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
    const { seed, policy, intake } = scenario;
    this.index = index;
    this.#clock = clock;
    this.intake = createIntake({
      ...optionsUnder(policy, intake),
      ...limits,
      clock,
      random: stream(seed, `intake ${String(index)}`),
    });
    this.intake.subscribe(({ type }) => {
      if (type === 'shedding' || type === 'accepting') seen.gateToggles += 1;
    });
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

/** The result for a queued delivery. */
export interface Answer {
  readonly i: number;
  readonly receiver: Receiver;
  readonly result: Permit | Refusal;
}

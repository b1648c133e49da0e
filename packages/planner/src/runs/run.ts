import { inBackground } from '@webhook-backpressure/base';
import type { Intake, Permit, Refusal } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Alarm } from '../base/agenda.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { FleetRun } from './fleet-run.ts';
import { InboxRun } from './inbox-run.ts';
import { ProcessRun } from './process-run.ts';
import { QueueRun } from './queue-run.ts';
import { intakeOf, startSampling, type Sampler } from './receivers.ts';

const TURN = Promise.resolve();
const NO_COST = { acceptMs: 0, refuseMs: 0, handleMs: 0, freeze: [] };

/**
 * Runs a scenario through a real intake, or a real inbox, until every delivery is handled or given up.
 *
 * @param sampler - reads the intake of a single receiver in hold mode.
 * @param untilMs - ends the run of a queue, or of a single receiver whose senders have timeouts, before.
 * @throws Unsettled when that takes more than `maxAttempts` attempts.
 */
export function run(
  scenario: Scenario,
  traffic: Traffic,
  maxAttempts: number,
  sampler?: Sampler,
  untilMs?: number,
): Promise<Observations> {
  const { process = NO_COST, policy, senders, fleet, inbox } = scenario;
  if (inbox !== undefined) return new InboxRun(scenario, inbox, traffic, maxAttempts).settle();
  if (fleet !== undefined) return new FleetRun(scenario, fleet, traffic, maxAttempts).settle();
  if (policy.queue !== undefined && scenario.process === undefined) {
    const queue = new QueueRun(scenario, policy.queue, traffic, maxAttempts);
    return Promise.resolve().then(() => queue.settle(untilMs));
  }
  // After a sender timeout the handler continues, and the next attempt may arrive meanwhile.
  const mayTimeOut = senders.some(({ timeoutMs }) => timeoutMs > 0);
  if (scenario.process !== undefined || mayTimeOut) {
    return new ProcessRun(scenario, process, traffic, maxAttempts).settle(sampler, untilMs);
  }
  return new Run(scenario, traffic, maxAttempts).settle(sampler);
}

/** The result for a queued delivery. */
interface Answer {
  readonly i: number;
  readonly result: Permit | Refusal;
}

/** A run in which the receiver's process takes no time. A delivery is its index into the traffic, `i`. */
class Run {
  readonly #traffic: Traffic;
  readonly #policy: Scenario['policy'];
  readonly #clock = manualClock();
  readonly #alarm = new Alarm(this.#clock);
  readonly #senders: Senders;
  readonly #intake: Intake;
  readonly #downstream: Downstream;
  /** `downstream.nextMs()`, kept because it is read before each of millions of refusals. */
  #nextEndMs = Infinity;
  #depth = 0;
  #answers: Answer[] = [];

  /** Of running deliveries. */
  readonly #permits: (Permit | undefined)[];
  readonly #admittedMs: Float64Array;
  readonly #startedMs: Float64Array;

  constructor(scenario: Scenario, traffic: Traffic, maxAttempts: number) {
    const { count } = traffic;
    this.#traffic = traffic;
    this.#policy = scenario.policy;
    this.#senders = new Senders(scenario, traffic, maxAttempts);
    this.#downstream = new Downstream(scenario.service);
    this.#intake = intakeOf(scenario, this.#clock, this.#senders.seen);
    this.#permits = new Array<Permit | undefined>(count);
    this.#admittedMs = new Float64Array(count);
    this.#startedMs = new Float64Array(count);
  }

  async settle(sampler: Sampler | undefined): Promise<Observations> {
    if (sampler !== undefined) startSampling(sampler, this.#intake, this.#clock);
    while (!this.#senders.areDone) {
      this.#alarm.set(this.#nextMs());
      if (!this.#clock.advanceToNext()) throw new Error('Deliveries are open, but no event is left.');
      // Otherwise it was a timer of the intake, which may have settled queued deliveries.
      if (!this.#alarm.hasRung) await this.#processAnswers();
      while (this.#nextMs() <= this.#clock.now()) {
        if (this.#next(this.#clock.now())) await this.#processAnswers();
      }
    }
    return this.#senders.seen;
  }

  /**
   * Processes the promises that the intake has settled, which takes one turn of the microtasks. Called after each
   * event that may have settled one, so that the results come before the next event. Not after a refusal, which
   * settles none: there are millions of them.
   */
  async #processAnswers(): Promise<void> {
    const now = this.#clock.now();
    if (this.#depth > 0) {
      await TURN;
      const answers = this.#answers;
      if (answers.length > 0) this.#answers = [];
      for (const { i, result } of answers) {
        this.#depth -= 1;
        if (result.admitted) this.#start(i, result, now);
        else this.#refuse(i, result, now);
      }
    }
    this.#senders.seen.depth(this.#depth, now);
  }

  #nextMs(): number {
    return Math.min(this.#nextEndMs, this.#senders.nextMs);
  }

  /**
   * Processes the next event. At the same time, a worker becomes free first, then senders retry, then new deliveries
   * arrive.
   *
   * @returns whether the event may have settled a queued delivery.
   */
  #next(now: number): boolean {
    if (this.#nextEndMs <= now) {
      this.#complete(this.#downstream.end(now), now);
      return true;
    }
    return this.#attempt(this.#senders.next(now), now);
  }

  #attempt(i: number, now: number): boolean {
    const delivery = this.#senders.attempt(i, now);
    if (delivery === undefined) return false;
    const admission = this.#intake.admit(delivery);
    if (!admission.admitted) {
      this.#refuse(i, admission, now);
      return false;
    }
    this.#admittedMs[i] = now;
    const { permit } = admission;
    if (!(permit instanceof Promise)) {
      this.#start(i, permit, now);
      return false;
    }
    this.#depth += 1;
    inBackground(permit.then((result) => this.#answers.push({ i, result })));
    return true;
  }

  #start(i: number, permit: Permit, now: number): void {
    if (permit.waitedMs !== now - (this.#admittedMs[i] as number)) {
      throw new Error(`The start of delivery ${String(i)} was processed late.`);
    }
    this.#permits[i] = permit;
    this.#startedMs[i] = now;
    this.#downstream.start(i, this.#traffic.serviceMs[i] as number, now);
    this.#nextEndMs = this.#downstream.nextMs();
  }

  #complete(i: number, now: number): void {
    const permit = this.#permits[i] as Permit;
    this.#senders.seen.wasBusy(this.#startedMs[i] as number, now);
    this.#senders.completed(i, permit.waitedMs, now);
    this.#permits[i] = undefined;
    this.#nextEndMs = this.#downstream.nextMs();
    permit.release();
  }

  #refuse(i: number, refusal: Refusal, now: number): void {
    this.#senders.refused(i, this.#policy.retryAfterS(refusal, this.#senders.unitOf(i)), refusal.status, now);
  }
}

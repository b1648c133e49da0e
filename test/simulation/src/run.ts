import {
  createIntake,
  type Admission,
  type Intake,
  type Permit,
  type Refusal,
} from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Agenda } from './agenda.ts';
import { Alarm } from './alarm.ts';
import { Downstream } from './downstream.ts';
import { Observations } from './observations.ts';
import { optionsUnder } from './policy.ts';
import { stream } from './random.ts';
import { Population } from './population.ts';
import { ProcessRun } from './process-run.ts';
import type { Sampler } from './sampler.ts';
import type { Scenario } from './scenario.ts';
import type { Traffic } from './traffic.ts';
import { Unsettled } from './unsettled.ts';

const TURN = Promise.resolve();
const NO_COST = { acceptMs: 0, refuseMs: 0, handleMs: 0, freeze: [] };

/**
 * Runs a scenario through a real intake until every delivery is handled or given up.
 *
 * @throws Unsettled when that takes more than `maxAttempts` attempts.
 */
export function run(
  scenario: Scenario,
  traffic: Traffic,
  maxAttempts: number,
  sampler?: Sampler,
): Promise<Observations> {
  const { process = NO_COST, policy, senders } = scenario;
  // A handler goes on when its sender hangs up, and the next attempt may come meanwhile.
  const mayHangUp = senders.some(({ timeoutMs }) => timeoutMs > 0);
  if (scenario.process !== undefined || policy.isQueue || mayHangUp) {
    return new ProcessRun(scenario, process, traffic, maxAttempts).settle(sampler);
  }
  return new Run(scenario, traffic, maxAttempts).settle(sampler);
}

/** What has become of a delivery that waited. */
interface Answer {
  readonly i: number;
  readonly admission: Admission;
  readonly result: Permit | Refusal;
}

/** Deliveries are known by their index into the traffic, `i`. */
class Run {
  readonly #traffic: Traffic;
  readonly #policy: Scenario['policy'];
  readonly #clock = manualClock();
  readonly #alarm = new Alarm(this.#clock);
  readonly #intake: Intake;
  readonly #downstream: Downstream;
  /** What `downstream.nextMs()` says, kept because it is asked before each of millions of refusals. */
  #nextEndMs = Infinity;
  readonly #population: Population;
  readonly #seen: Observations;
  /** The next attempts, `i`. */
  readonly #agenda = new Agenda();
  #nextArrival = 0;
  #attemptsLeft: number;
  #waiting = 0;
  /** Deliveries that are neither handled nor given up. */
  #open: number;

  #answers: Answer[] = [];

  /** Of a delivery that waits or is being handled. */
  readonly #admissions: (Admission | undefined)[];
  /** Of a delivery that is being handled. */
  readonly #permits: (Permit | undefined)[];
  readonly #admittedMs: Float64Array;
  readonly #startedMs: Float64Array;

  constructor(scenario: Scenario, traffic: Traffic, maxAttempts: number) {
    const { seed, policy, service } = scenario;
    this.#traffic = traffic;
    this.#policy = policy;
    this.#population = new Population(scenario, traffic, stream(seed, 'senders'));
    this.#downstream = new Downstream(service);
    this.#intake = createIntake({
      ...optionsUnder(policy, scenario.intake),
      clock: this.#clock,
      random: stream(seed, 'intake'),
    });
    const { count } = traffic;
    this.#open = count;
    this.#attemptsLeft = maxAttempts;
    this.#seen = new Observations(count);
    this.#admissions = new Array<Admission | undefined>(count);
    this.#permits = new Array<Permit | undefined>(count);
    this.#admittedMs = new Float64Array(count);
    this.#startedMs = new Float64Array(count);
  }

  async settle(sampler: Sampler | undefined): Promise<Observations> {
    this.#intake.subscribe(({ type }) => {
      if (type === 'shedding' || type === 'accepting') this.#seen.gateToggles += 1;
    });
    if (sampler !== undefined) this.#sample(sampler);
    while (this.#open > 0) {
      this.#alarm.set(this.#nextMs());
      if (!this.#clock.advanceToNext())
        throw new Error('Deliveries are open, and nothing is left to happen.');
      // Otherwise it was a timer of the intake, which may have answered deliveries that wait.
      if (!this.#alarm.hasRung) await this.#hear();
      while (this.#nextMs() <= this.#clock.now()) {
        if (this.#next(this.#clock.now())) await this.#hear();
      }
    }
    return this.#seen;
  }

  /**
   * Lets promises of the intake call back, which takes one turn of the microtasks. Once after each event that
   * may have settled one, or the next event would come before what this one decided; a refusal settles none, and
   * of those there are millions.
   */
  async #hear(): Promise<void> {
    const now = this.#clock.now();
    if (this.#waiting > 0) {
      await TURN;
      const answers = this.#answers;
      if (answers.length > 0) this.#answers = [];
      for (const { i, admission, result } of answers) {
        // It may have hung up meanwhile.
        if (this.#admissions[i] !== admission) continue;
        this.#waiting -= 1;
        if (result.admitted) this.#started(i, result, now);
        else this.#refused(i, result, now);
      }
    }
    this.#seen.depth(this.#waiting, now);
  }

  #nextMs(): number {
    const arrivalMs = this.#traffic.firstMs[this.#nextArrival] ?? Infinity;
    return Math.min(this.#nextEndMs, this.#agenda.nextMs, arrivalMs);
  }

  /**
   * Does what comes next. Of what happens at the same time, a worker becomes free first, then senders return,
   * then new ones come.
   *
   * @returns whether that may have settled something for a delivery that waits.
   */
  #next(now: number): boolean {
    if (this.#nextEndMs <= now) return this.#completed(this.#downstream.end(now), now);
    const isArrival = this.#agenda.nextMs > now;
    return this.#attempt(isArrival ? this.#nextArrival++ : this.#agenda.pop(), now);
  }

  #attempt(i: number, now: number): boolean {
    if (this.#attemptsLeft-- === 0) throw new Unsettled(this.#open);
    this.#seen.attempted(i, now);
    const admission = this.#intake.admit(this.#population.deliveryOf(i));
    if (!admission.admitted) {
      this.#refused(i, admission, now);
      return false;
    }
    this.#admissions[i] = admission;
    this.#admittedMs[i] = now;
    const { permit } = admission;
    if (!(permit instanceof Promise)) {
      this.#started(i, permit, now);
      return false;
    }
    this.#waiting += 1;
    void permit.then((result) => this.#answers.push({ i, admission, result }));
    return true;
  }

  #started(i: number, permit: Permit, now: number): void {
    if (permit.waitedMs !== now - (this.#admittedMs[i] as number)) {
      throw new Error(`The start of delivery ${String(i)} was heard late.`);
    }
    this.#permits[i] = permit;
    this.#startedMs[i] = now;
    this.#downstream.start(i, this.#traffic.serviceMs[i] as number, now);
    this.#nextEndMs = this.#downstream.nextMs();
  }

  #completed(i: number, now: number): true {
    const permit = this.#permits[i] as Permit;
    this.#seen.wasBusy(this.#startedMs[i] as number, now);
    this.#seen.completed(i, permit.waitedMs, now);
    this.#forget(i);
    this.#close(i);
    this.#nextEndMs = this.#downstream.nextMs();
    permit.release();
    return true;
  }

  #refused(i: number, refusal: Refusal, now: number): void {
    const toldS = this.#policy.toldS(refusal);
    this.#seen.refused(i, toldS ?? 0, now);
    this.#forget(i);
    this.#tryAgain(i, toldS, refusal.status, now);
  }

  #tryAgain(i: number, toldS: number | undefined, status: 429 | 503 | undefined, now: number): void {
    const delayS = this.#population.retryDelayS(i, this.#seen.attempts[i] as number, toldS, status);
    if (delayS === undefined) {
      this.#seen.lost += 1;
      this.#close(i);
    } else {
      this.#agenda.push(now + delayS * 1000, i);
    }
  }

  /** The delivery is at its sender, or nowhere. */
  #forget(i: number): void {
    this.#admissions[i] = undefined;
    this.#permits[i] = undefined;
  }

  #close(i: number): void {
    this.#open -= 1;
    this.#population.forget(i);
  }

  #sample(sampler: Sampler): void {
    sampler.look(this.#intake, this.#clock.now());
    this.#clock.setTimeout(() => {
      this.#sample(sampler);
    }, sampler.everyMs);
  }
}

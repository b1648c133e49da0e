import { inBackground } from '@webhook-backpressure/base';
import type { Permit, Refusal } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Alarm } from '../base/agenda.ts';
import type { Fleet, Scenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { Balancer, FleetWatch, Receiver } from './fleet.ts';

const TURN = Promise.resolve();
const TURNS = 6;

/** The result for a queued delivery. */
interface Answer {
  readonly i: number;
  readonly receiver: Receiver;
  readonly result: Permit | Refusal;
}

/** A delivery in service. */
interface Handling {
  readonly i: number;
  readonly receiver: Receiver;
  readonly permit: Permit;
  readonly startedMs: number;
}

/**
 * A run with several receivers behind a balancer, and one downstream that all of them use. Their processes take no time.
 *
 * When a receiver dies, its requests break off, and their senders retry as after a timeout; the downstream finishes what
 * it has begun. The balancer notices immediately.
 */
export class FleetRun {
  readonly #traffic: Traffic;
  readonly #scenario: Scenario;
  readonly #fleet: Fleet;
  readonly #clock = manualClock();
  readonly #alarm = new Alarm(this.#clock);
  readonly #senders: Senders;
  readonly #balancer: Balancer<Receiver>;
  readonly #receivers: Receiver[] = [];
  readonly #watch: FleetWatch;
  readonly #downstream: Downstream;
  /** Deliveries in service, by the number of their start. */
  readonly #handled = new Map<number, Handling>();
  readonly #queued = new Map<number, Receiver>();
  #starts = 0;
  #answers: Answer[] = [];

  constructor(scenario: Scenario, fleet: Fleet, traffic: Traffic, maxAttempts: number) {
    this.#traffic = traffic;
    this.#scenario = scenario;
    this.#fleet = fleet;
    this.#senders = new Senders(scenario, traffic, maxAttempts);
    this.#downstream = new Downstream(scenario.service);
    this.#balancer = new Balancer(fleet.balancer, scenario.seed);
    this.#watch = new FleetWatch(scenario, fleet, this.#clock, traffic.count);
  }

  async settle(): Promise<Observations> {
    const { seen } = this.#senders;
    for (let index = 0; index < this.#fleet.receivers; index += 1) this.#join();
    for (const { atS, what } of this.#fleet.changes) {
      this.#clock.setTimeout(() => {
        if (what === 'join') this.#join();
        else this.#die();
      }, atS * 1000);
    }
    this.#watch.begin(this.#receivers);
    while (!this.#senders.areDone) {
      this.#alarm.set(this.#nextMs());
      if (!this.#clock.advanceToNext()) throw new Error('Deliveries are open, but no event is left.');
      if (!this.#alarm.hasRung) await this.#processAnswers();
      while (this.#nextMs() <= this.#clock.now()) {
        if (this.#next(this.#clock.now())) await this.#processAnswers();
      }
    }
    seen.fleet = this.#watch.results(this.#receivers);
    return seen;
  }

  #join(): void {
    const receiver = this.#watch.join(this.#receivers.length, this.#senders.seen);
    this.#receivers.push(receiver);
    this.#balancer.add(receiver);
  }

  /** The receiver that has lived longest dies. */
  #die(): void {
    const dying = this.#receivers.find(({ isAlive }) => isAlive);
    if (dying === undefined) return;
    dying.isAlive = false;
    this.#balancer.remove(dying);
    const now = this.#clock.now();
    for (const [i, receiver] of this.#queued) {
      if (receiver !== dying) continue;
      this.#queued.delete(i);
      this.#senders.timedOut(i, now);
    }
    for (const { i, receiver } of this.#handled.values()) {
      if (receiver === dying) this.#senders.timedOut(i, now);
    }
  }

  /** Processes the promises that intakes have settled: see `Run`. */
  async #processAnswers(): Promise<void> {
    const now = this.#clock.now();
    // A beat of the fleet takes some turns.
    for (let turn = 0; turn < TURNS; turn += 1) await TURN;
    const answers = this.#answers;
    if (answers.length > 0) this.#answers = [];
    for (const { i, receiver, result } of answers) {
      if (!receiver.isAlive) continue;
      this.#queued.delete(i);
      if (result.admitted) this.#start(i, receiver, result, now);
      else this.#refuse(i, receiver, result, now);
    }
    this.#senders.seen.depth(this.#queued.size, now);
  }

  #nextMs(): number {
    return Math.min(this.#downstream.nextMs(), this.#senders.nextMs);
  }

  /** See `Run`. */
  #next(now: number): boolean {
    if (this.#downstream.nextMs() <= now) {
      this.#complete(this.#downstream.end(now), now);
      return true;
    }
    return this.#attempt(this.#senders.next(now), now);
  }

  #attempt(i: number, now: number): boolean {
    const delivery = this.#senders.attempt(i, now);
    if (delivery === undefined) return false;
    const receiver = this.#balancer.choose(i);
    receiver.attempts += 1;
    receiver.look();
    const admission = receiver.intake.admit(delivery);
    this.#watch.returned(i, admission.admitted, now);
    if (!admission.admitted) {
      this.#refuse(i, receiver, admission, now);
      return false;
    }
    receiver.connections += 1;
    const { permit } = admission;
    if (!(permit instanceof Promise)) {
      this.#start(i, receiver, permit, now);
      return false;
    }
    this.#queued.set(i, receiver);
    inBackground(permit.then((result) => this.#answers.push({ i, receiver, result })));
    return true;
  }

  #start(i: number, receiver: Receiver, permit: Permit, now: number): void {
    this.#starts += 1;
    this.#handled.set(this.#starts, { i, receiver, permit, startedMs: now });
    this.#downstream.start(this.#starts, this.#traffic.serviceMs[i] as number, now);
  }

  #complete(start: number, now: number): void {
    const { i, receiver, permit, startedMs } = this.#handled.get(start) as Handling;
    this.#handled.delete(start);
    if (!receiver.isAlive) return;
    receiver.connections -= 1;
    receiver.completions += 1;
    this.#senders.seen.wasBusy(startedMs, now);
    this.#senders.completed(i, permit.waitedMs, now);
    permit.release();
  }

  /** At admission, or after a wait in the queue. */
  #refuse(i: number, receiver: Receiver, refusal: Refusal, now: number): void {
    receiver.refusals += 1;
    const retryAfterS = this.#scenario.policy.retryAfterS(refusal, this.#senders.unitOf(i));
    if (retryAfterS !== undefined && receiver.hasBooked()) this.#watch.promised(i, now + retryAfterS * 1000);
    this.#senders.refused(i, retryAfterS, refusal.status, now);
  }
}

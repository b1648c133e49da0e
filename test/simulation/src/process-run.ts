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
import { EventLoop } from './event-loop.ts';
import { FifoQueue } from './fifo-queue.ts';
import { Observations } from './observations.ts';
import { optionsUnder } from './policy.ts';
import { Population } from './population.ts';
import { stream } from './random.ts';
import type { Sampler } from './sampler.ts';
import type { Process, Scenario } from './scenario.ts';
import type { Traffic } from './traffic.ts';
import { Unsettled } from './unsettled.ts';
import { placesOf, workersOf } from './workers.ts';

const TURN = Promise.resolve();

/** One request. A delivery may have several under way: its sender has given up the earlier ones. */
interface Attempt {
  readonly id: number;
  readonly i: number;
  isAnswered: boolean;
  hasHungUp: boolean;
  admission: Admission | undefined;
  permit: Permit | undefined;
  admittedMs: number;
  startedMs: number;
}

/** What the kernel holds for the process until it looks. */
interface Notice {
  readonly kind: 'request' | 'hang-up' | 'end';
  readonly attempt: Attempt;
}

/**
 * Runs a scenario through a receiver in a process of one thread, which takes time for all that it does. Requests, and
 * whatever else happens in the world, wait in the kernel until the thread gets to them: first timers, then all that has
 * come, turn after turn, as in Node. Senders count their patience from the moment at which they send.
 */
export class ProcessRun {
  readonly #traffic: Traffic;
  readonly #policy: Scenario['policy'];
  readonly #process: Process;
  readonly #manual = manualClock();
  readonly #alarm = new Alarm(this.#manual);
  readonly #loop: EventLoop;
  readonly #intake: Intake | undefined;
  readonly #receiver: { admit: (delivery: object) => Admission | Refusal };
  readonly #downstream: Downstream;
  readonly #population: Population;
  readonly #seen: Observations;
  /** The next attempts, `i`, and the hang-ups of senders, `count + id` of the attempt. */
  readonly #agenda = new Agenda();
  /** Of those that have not ended yet. */
  readonly #attempts = new Map<number, Attempt>();
  #kernel: Notice[] = [];
  #settled: { readonly attempt: Attempt; readonly result: Permit | Refusal }[] = [];
  #nextArrival = 0;
  #nextAttempt = 0;
  readonly #maxAttempts: number;
  #waiting = 0;
  #open: number;

  constructor(scenario: Scenario, process: Process, traffic: Traffic, maxAttempts: number) {
    const { seed, policy, service } = scenario;
    this.#traffic = traffic;
    this.#policy = policy;
    this.#process = process;
    this.#loop = new EventLoop(this.#manual, process.freeze);
    this.#downstream = new Downstream(service);
    this.#population = new Population(scenario, traffic, stream(seed, 'senders'));
    this.#seen = new Observations(traffic.count);
    this.#open = traffic.count;
    this.#maxAttempts = maxAttempts;
    if (policy.isQueue) {
      this.#receiver = new FifoQueue(workersOf(scenario), placesOf(scenario));
    } else {
      const intake = createIntake({
        ...optionsUnder(policy, scenario.intake),
        clock: this.#loop.clock,
        random: stream(seed, 'intake'),
      });
      intake.subscribe(({ type }) => {
        if (type === 'shedding' || type === 'accepting') this.#seen.gateToggles += 1;
      });
      this.#receiver = this.#intake = intake;
    }
  }

  async settle(sampler?: Sampler): Promise<Observations> {
    if (sampler !== undefined) this.#sample(sampler);
    while (this.#open > 0) {
      this.#alarm.set(this.#loop.awakeAt(this.#nextMs()));
      if (!this.#manual.advanceToNext()) {
        throw new Error('Deliveries are open, and nothing is left to happen.');
      }
      if (!this.#alarm.hasRung) await this.#hear();
      this.#happen();
      while (this.#kernel.length > 0) {
        this.#loop.fireTimers();
        await this.#hear();
        const notices = this.#kernel;
        this.#kernel = [];
        for (const { kind, attempt } of notices) {
          if (kind === 'request') this.#admit(attempt);
          else if (kind === 'end') this.#end(attempt);
          else attempt.admission?.leave();
          await this.#hear();
        }
      }
    }
    return this.#seen;
  }

  #sample(sampler: Sampler): void {
    if (this.#intake === undefined) return;
    sampler.look(this.#intake, this.#manual.now());
    this.#manual.setTimeout(() => {
      this.#sample(sampler);
    }, sampler.everyMs);
  }

  #nextMs(): number {
    const arrivalMs = this.#traffic.firstMs[this.#nextArrival] ?? Infinity;
    return Math.min(this.#downstream.nextMs(), this.#agenda.nextMs, arrivalMs);
  }

  /** Lets everything happen in the world up to now. The process has not heard of it yet. */
  #happen(): void {
    const now = this.#manual.now();
    const { count, firstMs } = this.#traffic;
    for (let atMs = this.#nextMs(); atMs <= now; atMs = this.#nextMs()) {
      if (this.#downstream.nextMs() <= atMs) {
        const attempt = this.#attempts.get(this.#downstream.end(atMs)) as Attempt;
        this.#kernel.push({ kind: 'end', attempt });
      } else if (this.#agenda.nextMs <= atMs) {
        const item = this.#agenda.pop();
        if (item < count) this.#send(item, atMs);
        else this.#hangUp(item - count, atMs);
      } else if ((firstMs[this.#nextArrival] as number) <= atMs) {
        this.#send(this.#nextArrival++, atMs);
      }
    }
  }

  #send(i: number, atMs: number): void {
    const id = this.#nextAttempt++;
    if (id === this.#maxAttempts) throw new Unsettled(this.#open);
    const attempt: Attempt = {
      ...{ id, i, isAnswered: false, hasHungUp: false, admission: undefined, permit: undefined },
      ...{ admittedMs: 0, startedMs: 0 },
    };
    this.#attempts.set(id, attempt);
    this.#seen.attempted(i, atMs);
    this.#kernel.push({ kind: 'request', attempt });
    const { timeoutMs } = this.#population.senderOf(i);
    if (timeoutMs > 0) this.#agenda.push(atMs + timeoutMs, this.#traffic.count + id);
  }

  #hangUp(id: number, atMs: number): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined || attempt.isAnswered) return;
    attempt.hasHungUp = true;
    this.#kernel.push({ kind: 'hang-up', attempt });
    this.#tryAgain(attempt.i, undefined, undefined, atMs);
  }

  /** Works, while the world goes on. */
  #work(ms: number): void {
    this.#loop.work(ms);
    this.#happen();
  }

  #admit(attempt: Attempt): void {
    const admission = this.#receiver.admit(this.#population.deliveryOf(attempt.i));
    if (!admission.admitted) {
      this.#refuse(attempt, admission);
      return;
    }
    attempt.admission = admission;
    attempt.admittedMs = this.#manual.now();
    this.#work(this.#process.acceptMs);
    const { permit } = admission;
    if (!(permit instanceof Promise)) {
      this.#begin(attempt, permit);
      return;
    }
    this.#waiting += 1;
    void permit.then((result) => this.#settled.push({ attempt, result }));
  }

  /** Lets promises of the receiver call back, and does what they say. */
  async #hear(): Promise<void> {
    if (this.#waiting === 0) return;
    await TURN;
    const settled = this.#settled;
    if (settled.length > 0) this.#settled = [];
    for (const { attempt, result } of settled) {
      this.#waiting -= 1;
      if (result.admitted) this.#begin(attempt, result);
      else this.#refuse(attempt, result);
    }
    this.#seen.depth(this.#waiting, this.#manual.now());
  }

  #begin(attempt: Attempt, permit: Permit): void {
    attempt.permit = permit;
    attempt.startedMs = this.#manual.now();
    this.#work(this.#process.handleMs);
    this.#downstream.start(attempt.id, this.#traffic.serviceMs[attempt.i] as number, this.#manual.now());
  }

  /** Its handler has ended. One whose sender has hung up has worked for nobody. */
  #end(attempt: Attempt): void {
    const { id, i, startedMs, admittedMs } = attempt;
    this.#work(this.#process.handleMs);
    const now = this.#manual.now();
    this.#seen.wasBusy(startedMs, now);
    if (!attempt.hasHungUp) {
      attempt.isAnswered = true;
      this.#seen.completed(i, startedMs - admittedMs, now);
      this.#close(i);
    }
    this.#attempts.delete(id);
    attempt.permit?.release();
  }

  #refuse(attempt: Attempt, refusal: Refusal): void {
    this.#attempts.delete(attempt.id);
    this.#work(this.#process.refuseMs);
    if (attempt.hasHungUp) return;
    attempt.isAnswered = true;
    const { i } = attempt;
    const toldS = this.#policy.toldS(refusal);
    const now = this.#manual.now();
    this.#seen.refused(i, toldS ?? 0, now);
    this.#tryAgain(i, toldS, refusal.status, now);
  }

  #tryAgain(i: number, toldS: number | undefined, status: 429 | 503 | undefined, atMs: number): void {
    const delayS = this.#population.retryDelayS(i, this.#seen.attempts[i] as number, toldS, status);
    if (delayS === undefined) {
      this.#seen.lost += 1;
      this.#close(i);
    } else {
      this.#agenda.push(atMs + delayS * 1000, i);
    }
  }

  #close(i: number): void {
    this.#open -= 1;
    this.#population.forget(i);
  }
}

import { inBackground } from '@webhook-backpressure/base';
import type { Admission, Delivery, Intake, Permit, Refusal } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Alarm } from '../base/agenda.ts';
import type { Process, Scenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import { type Traffic, placesOf, workersOf } from '../traffic/traffic.ts';
import { EventLoop, FifoQueue, intakeOf, startSampling, type Sampler } from './receivers.ts';

const TURN = Promise.resolve();

/** One request. A delivery may have several requests under way, of which all but the last have timed out. */
interface Attempt {
  readonly id: number;
  readonly i: number;
  readonly delivery: Delivery;
  isAnswered: boolean;
  hasTimedOut: boolean;
  admission: Admission | undefined;
  permit: Permit | undefined;
  admittedMs: number;
  startedMs: number;
}

/** An event that the kernel holds until the process reads it. */
interface Notice {
  readonly kind: 'request' | 'disconnect' | 'end';
  readonly attempt: Attempt;
}

/**
 * Runs a scenario through a receiver whose single-threaded process takes time for its work. Requests and other events
 * wait in the kernel until the thread reads them: in each turn first timers, then all events so far, as in Node. The
 * timeouts of senders start when they send.
 */
export class ProcessRun {
  readonly #traffic: Traffic;
  readonly #policy: Scenario['policy'];
  readonly #process: Process;
  readonly #manual = manualClock();
  readonly #alarm = new Alarm(this.#manual);
  readonly #loop: EventLoop;
  /** Its agenda also holds the timeouts of senders: `traffic.count` + id of the attempt. */
  readonly #senders: Senders;
  readonly #intake: Intake | undefined;
  readonly #receiver: { admit: (delivery: object) => Admission | Refusal };
  readonly #downstream: Downstream;
  /** The attempts that have not ended, by id. */
  readonly #attempts = new Map<number, Attempt>();
  #kernel: Notice[] = [];
  #answers: { readonly attempt: Attempt; readonly result: Permit | Refusal }[] = [];
  #nextAttempt = 0;
  #depth = 0;

  constructor(scenario: Scenario, process: Process, traffic: Traffic, maxAttempts: number) {
    this.#traffic = traffic;
    this.#policy = scenario.policy;
    this.#process = process;
    this.#loop = new EventLoop(this.#manual, process.freeze);
    this.#downstream = new Downstream(scenario.service);
    this.#senders = new Senders(scenario, traffic, maxAttempts);
    const { queue } = scenario.policy;
    if (queue !== undefined) {
      const places = queue.isBounded ? placesOf(scenario) : Infinity;
      this.#receiver = new FifoQueue(workersOf(scenario), places, queue.status);
    } else {
      this.#receiver = this.#intake = intakeOf(scenario, this.#loop.clock, this.#senders.seen);
    }
  }

  /** @param untilMs - the run ends then, with deliveries that are not settled. */
  async settle(sampler?: Sampler, untilMs?: number): Promise<Observations> {
    if (sampler !== undefined && this.#intake !== undefined) {
      startSampling(sampler, this.#intake, this.#manual);
    }
    // Handlers of senders that have disconnected run to their end.
    while (!this.#senders.areDone || this.#attempts.size > 0) {
      if (this.#nextMs() > (untilMs ?? Infinity)) break;
      this.#alarm.set(this.#loop.awakeAt(this.#nextMs()));
      if (!this.#manual.advanceToNext()) throw new Error('Deliveries are open, but no event is left.');
      if (!this.#alarm.hasRung) await this.#processAnswers();
      this.#catchUp();
      while (this.#kernel.length > 0) {
        this.#loop.fireTimers();
        await this.#processAnswers();
        const notices = this.#kernel;
        this.#kernel = [];
        for (const { kind, attempt } of notices) {
          if (kind === 'request') this.#admit(attempt);
          else if (kind === 'end') this.#end(attempt);
          else this.#disconnect(attempt);
          await this.#processAnswers();
        }
      }
    }
    return this.#senders.seen;
  }

  #nextMs(): number {
    return Math.min(this.#downstream.nextMs(), this.#senders.nextMs);
  }

  /** Moves all events outside the process up to now into the kernel. */
  #catchUp(): void {
    const now = this.#manual.now();
    const { count } = this.#traffic;
    for (let atMs = this.#nextMs(); atMs <= now; atMs = this.#nextMs()) {
      if (this.#downstream.nextMs() <= atMs) {
        const attempt = this.#attempts.get(this.#downstream.end(atMs)) as Attempt;
        this.#kernel.push({ kind: 'end', attempt });
        continue;
      }
      const item = this.#senders.next(atMs);
      if (item < count) this.#send(item, atMs);
      else this.#timeOut(item - count, atMs);
    }
  }

  #send(i: number, atMs: number): void {
    const delivery = this.#senders.attempt(i, atMs);
    if (delivery === undefined) return;
    const id = this.#nextAttempt++;
    const attempt: Attempt = {
      id,
      i,
      delivery,
      isAnswered: false,
      hasTimedOut: false,
      admission: undefined,
      permit: undefined,
      admittedMs: 0,
      startedMs: 0,
    };
    this.#attempts.set(id, attempt);
    this.#kernel.push({ kind: 'request', attempt });
    const timeoutMs = this.#senders.timeoutMsOf(i);
    if (timeoutMs > 0) this.#senders.agenda.push(atMs + timeoutMs, this.#traffic.count + id);
  }

  #timeOut(id: number, atMs: number): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined || attempt.isAnswered) return;
    attempt.hasTimedOut = true;
    this.#kernel.push({ kind: 'disconnect', attempt });
    this.#senders.timedOut(attempt.i, atMs);
  }

  /** Spends time in the process, while events outside it continue. */
  #work(ms: number): void {
    this.#loop.work(ms);
    this.#catchUp();
  }

  #admit(attempt: Attempt): void {
    const admission = this.#receiver.admit(attempt.delivery);
    if (!admission.admitted) {
      this.#refuse(attempt, admission);
      return;
    }
    attempt.admission = admission;
    attempt.admittedMs = this.#manual.now();
    this.#work(this.#process.acceptMs);
    const { permit } = admission;
    if (!(permit instanceof Promise)) {
      this.#start(attempt, permit);
      return;
    }
    this.#depth += 1;
    inBackground(permit.then((result) => this.#answers.push({ attempt, result })));
  }

  /** Processes the promises that the receiver has settled. */
  async #processAnswers(): Promise<void> {
    if (this.#depth === 0) return;
    await TURN;
    const answers = this.#answers;
    if (answers.length > 0) this.#answers = [];
    for (const { attempt, result } of answers) {
      this.#depth -= 1;
      if (result.admitted) this.#start(attempt, result);
      else this.#refuse(attempt, result);
    }
    this.#senders.seen.depth(this.#depth, this.#manual.now());
  }

  #start(attempt: Attempt, permit: Permit): void {
    attempt.permit = permit;
    attempt.startedMs = this.#manual.now();
    this.#work(this.#process.handleMs);
    this.#downstream.start(attempt.id, this.#traffic.serviceMs[attempt.i] as number, this.#manual.now());
  }

  /** The handler has ended. If the sender has timed out, its result is lost. */
  #end(attempt: Attempt): void {
    const { id, i, startedMs, admittedMs } = attempt;
    this.#work(this.#process.handleMs);
    const now = this.#manual.now();
    this.#senders.seen.wasBusy(startedMs, now);
    this.#attempts.delete(id);
    if (attempt.hasTimedOut) {
      this.#senders.completedInVain(i);
      attempt.permit?.release('failure');
      return;
    }
    attempt.isAnswered = true;
    this.#senders.completed(i, startedMs - admittedMs, now);
    attempt.permit?.release();
  }

  /** As the middleware does: the delivery leaves the queue, or its signal is aborted. */
  #disconnect({ permit, admission }: Attempt): void {
    if (permit === undefined) admission?.leave();
    else permit.abort();
  }

  #refuse(attempt: Attempt, refusal: Refusal): void {
    this.#attempts.delete(attempt.id);
    this.#work(this.#process.refuseMs);
    if (attempt.hasTimedOut) return;
    attempt.isAnswered = true;
    const retryAfterS = this.#policy.retryAfterS(refusal, this.#senders.unitOf(attempt.i));
    this.#senders.refused(attempt.i, retryAfterS, refusal.status, this.#manual.now());
  }
}

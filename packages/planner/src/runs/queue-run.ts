import type { PlainQueue } from '../scenario/policy.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import { type Traffic, placesOf, workersOf } from '../traffic/traffic.ts';

/** The Retry-After of a plain queue is that of the policy. */
const FULL = { retryAfterSeconds: 1 };

/**
 * Runs a scenario through a plain queue whose process takes no time. The same as `ProcessRun` with a `FifoQueue`, but
 * without a clock and promises: without a bound there are millions of handlings in vain. An attempt is its number, from
 * 0.
 */
export class QueueRun {
  readonly #queue: PlainQueue;
  readonly #policy: Scenario['policy'];
  readonly #traffic: Traffic;
  /** Its agenda also holds the timeouts of senders: `traffic.count` + number of the attempt. */
  readonly #senders: Senders;
  readonly #downstream: Downstream;
  readonly #workers: number;
  readonly #places: number;
  // By number of the attempt.
  readonly #deliveries: number[] = [];
  readonly #sentMs: number[] = [];
  readonly #startedMs: number[] = [];
  readonly #isOver: boolean[] = [];
  /** Attempts in the queue, from `head` on. */
  readonly #waiting: number[] = [];
  #head = 0;

  constructor(scenario: Scenario, queue: PlainQueue, traffic: Traffic, maxAttempts: number) {
    this.#queue = queue;
    this.#policy = scenario.policy;
    this.#traffic = traffic;
    this.#senders = new Senders(scenario, traffic, maxAttempts);
    this.#downstream = new Downstream(scenario.service);
    this.#workers = workersOf(scenario);
    this.#places = queue.isBounded ? placesOf(scenario) : Infinity;
  }

  /** @param untilMs - the run ends then, with deliveries that are not settled. */
  settle(untilMs?: number): Observations {
    const [senders, downstream] = [this.#senders, this.#downstream];
    // Handlers of senders that have disconnected run to their end.
    while (!senders.areDone || downstream.inService > 0) {
      const endMs = downstream.nextMs();
      const now = Math.min(endMs, senders.nextMs);
      if (now > (untilMs ?? Infinity)) break;
      if (endMs <= now) this.#end(downstream.end(now), now);
      else this.#next(senders.next(now), now);
      senders.seen.depth(this.#waiting.length - this.#head, now);
    }
    return senders.seen;
  }

  #next(item: number, now: number): void {
    const { count } = this.#traffic;
    if (item < count) this.#send(item, now);
    else this.#timeOut(item - count, now);
  }

  #send(i: number, now: number): void {
    if (this.#senders.attempt(i, now) === undefined) return;
    const isFree = this.#downstream.inService < this.#workers;
    if (!isFree && this.#waiting.length - this.#head >= this.#places) {
      const retryAfterS = this.#policy.retryAfterS(FULL, this.#senders.unitOf(i));
      this.#senders.refused(i, retryAfterS, this.#queue.status, now);
      return;
    }
    const attempt = this.#deliveries.length;
    this.#deliveries.push(i);
    this.#sentMs.push(now);
    this.#startedMs.push(now);
    this.#isOver.push(false);
    const timeoutMs = this.#senders.timeoutMsOf(i);
    if (timeoutMs > 0) this.#senders.agenda.push(now + timeoutMs, this.#traffic.count + attempt);
    if (isFree) this.#start(attempt, now);
    else this.#waiting.push(attempt);
  }

  #start(attempt: number, now: number): void {
    this.#startedMs[attempt] = now;
    const serviceMs = this.#traffic.serviceMs[this.#deliveries[attempt] as number] as number;
    this.#downstream.start(attempt, serviceMs, now);
  }

  #end(attempt: number, now: number): void {
    const i = this.#deliveries[attempt] as number;
    const startedMs = this.#startedMs[attempt] as number;
    this.#senders.seen.wasBusy(startedMs, now);
    if (this.#isOver[attempt] === true) {
      this.#senders.completedInVain(i);
    } else {
      this.#isOver[attempt] = true;
      this.#senders.completed(i, startedMs - (this.#sentMs[attempt] as number), now);
    }
    const next = this.#waiting[this.#head];
    if (next === undefined) return;
    this.#head += 1;
    this.#start(next, now);
  }

  #timeOut(attempt: number, now: number): void {
    if (this.#isOver[attempt] === true) return;
    this.#isOver[attempt] = true;
    this.#senders.timedOut(this.#deliveries[attempt] as number, now);
  }
}

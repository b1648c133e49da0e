import type { Delivery } from '@webhook-backpressure/core';
import { Agenda } from '../base/agenda.ts';
import { Observations } from '../observations/observations.ts';
import { stream, type Random } from '../base/random.ts';
import type { Scenario, Sender } from '../scenario/scenario.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { Unsettled } from '../scenario/unsettled.ts';

/**
 * The senders of a run: their deliveries, when the next attempts are, and how many deliveries are still open. A
 * delivery is its index into the traffic, `i`.
 */
export class Senders {
  readonly seen: Observations;
  /** The next retries, `i`. A run may add its own entries, from `traffic.count` on. */
  readonly agenda: Agenda = new Agenda();
  readonly #senders: readonly Sender[];
  readonly #traffic: Traffic;
  readonly #random: Random;
  readonly #deliveries: (Delivery | undefined)[];
  #nextArrival = 0;
  #attemptsLeft: number;
  /** Deliveries neither handled nor given up. */
  #open: number;

  constructor({ senders, seed }: Scenario, traffic: Traffic, maxAttempts: number) {
    this.seen = new Observations(traffic.count);
    this.#senders = senders;
    this.#traffic = traffic;
    this.#random = stream(seed, 'senders');
    this.#deliveries = new Array<Delivery | undefined>(traffic.count);
    this.#attemptsLeft = maxAttempts;
    this.#open = traffic.count;
  }

  get areDone(): boolean {
    return this.#open === 0;
  }

  /** The time of the next attempt or agenda entry; Infinity without one. */
  get nextMs(): number {
    return Math.min(this.agenda.nextMs, this.#traffic.firstMs[this.#nextArrival] ?? Infinity);
  }

  /** Takes the entry that is due at `nowMs`: the agenda's first, then a first attempt. */
  next(nowMs: number): number {
    return this.agenda.nextMs <= nowMs ? this.agenda.pop() : this.#nextArrival++;
  }

  timeoutMsOf(i: number): number {
    return this.#senderOf(i).timeoutMs;
  }

  /** @throws Unsettled after `maxAttempts` attempts. */
  attempt(i: number, nowMs: number): Delivery {
    if (this.#attemptsLeft-- === 0) throw new Unsettled(this.#open);
    this.seen.attempted(i, nowMs);
    const { key, identified, delivery } = this.#senderOf(i);
    return (this.#deliveries[i] ??= {
      ...delivery,
      key,
      id: identified ? `delivery-${String(i)}` : undefined,
    });
  }

  completed(i: number, waitedMs: number, nowMs: number): void {
    this.seen.completed(i, waitedMs, nowMs);
    this.#close(i);
  }

  /** An inbox has accepted the delivery. Its handling is observed apart. */
  acknowledged(i: number): void {
    this.#close(i);
  }

  refused(i: number, retryAfterS: number | undefined, status: 429 | 503, nowMs: number): void {
    this.seen.refused(i, retryAfterS ?? 0, nowMs);
    this.#retry(i, retryAfterS, status, nowMs);
  }

  timedOut(i: number, nowMs: number): void {
    this.#retry(i, undefined, undefined, nowMs);
  }

  #retry(i: number, retryAfterS: number | undefined, status: 429 | 503 | undefined, nowMs: number): void {
    const { retry, maxAttempts } = this.#senderOf(i);
    const attempts = this.seen.attempts[i] as number;
    const isLast = maxAttempts > 0 && attempts >= maxAttempts;
    const delayS = isLast ? undefined : retry({ attempts, retryAfterS, status }, this.#random);
    if (delayS === undefined) {
      this.seen.lost += 1;
      this.#close(i);
    } else {
      this.agenda.push(nowMs + delayS * 1000, i);
    }
  }

  #close(i: number): void {
    this.#open -= 1;
    this.#deliveries[i] = undefined;
  }

  #senderOf(i: number): Sender {
    return this.#senders[this.#traffic.sender[i] as number] as Sender;
  }
}

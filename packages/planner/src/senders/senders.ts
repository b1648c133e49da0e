import type { Delivery } from '@webhook-backpressure/core';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import { Agenda } from '../base/agenda.ts';
import { stream, type Random } from '../base/numbers.ts';
import { conclusionOf } from '../scenario/answers.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Sender } from '../scenario/sender.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { Endpoint } from './endpoint.ts';
import { Observations } from './observations.ts';

/** A run did not settle. */
export class Unsettled extends Error {
  readonly open: number;

  /** @param open - the number of deliveries neither handled nor given up. */
  constructor(open: number) {
    super(`${String(open)} deliveries are open.`);
    this.open = open;
  }
}

/** What an answer, or the lack of one, means for a delivery. */
export type Fate = 'delivered' | 'retried' | 'lost';

/**
 * The senders of a run: their deliveries, when the next attempts are, and how many deliveries are still open. A
 * delivery is its index into the traffic, `i`.
 */
export class Senders {
  readonly seen: Observations;
  /** The next retries, `i`. A run may add its own entries, from `traffic.count` on. */
  readonly agenda: Agenda = new Agenda();
  readonly #senders: readonly Sender[];
  /** One per sender. */
  readonly #endpoints: readonly Endpoint[];
  readonly #traffic: Traffic;
  readonly #random: Random;
  readonly #deliveries: (Delivery | undefined)[];
  readonly #speed: number;
  /** By delivery: for how long it has waited for its attempts. */
  readonly #waitedMs: Float64Array;
  #nextArrival = 0;
  #attemptsLeft: number;
  /** Deliveries neither handled nor given up. */
  #open: number;

  constructor(
    { senders, seed, speed = 1 }: Pick<Scenario, 'senders' | 'seed' | 'speed'>,
    traffic: Traffic,
    maxAttempts: number,
  ) {
    this.#endpoints = senders.map(({ profile, rowOf }) => new Endpoint(profile?.switchOff, rowOf));
    this.seen = new Observations(traffic.count, this.#endpoints);
    this.#senders = senders;
    this.#traffic = traffic;
    this.#random = stream(seed, 'senders');
    this.#deliveries = new Array<Delivery | undefined>(traffic.count);
    this.#attemptsLeft = maxAttempts;
    this.#open = traffic.count;
    this.#speed = speed;
    this.#waitedMs = new Float64Array(traffic.count);
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

  /** The unit in which the sender reads Retry-After. */
  unitOf(i: number): 's' | 'ms' {
    const habit = this.#senderOf(i).profile?.retryAfter;
    return typeof habit === 'object' ? habit.unit : 's';
  }

  /**
   * Makes an attempt.
   *
   * @returns undefined if the endpoint is disabled: no request is sent, and the delivery is lost.
   * @throws Unsettled after `maxAttempts` attempts.
   */
  attempt(i: number, nowMs: number): Delivery | undefined {
    const endpoint = this.#endpointOf(i);
    if (endpoint.isOff(nowMs * this.#speed)) {
      endpoint.missed += 1;
      this.#lose(i);
      return undefined;
    }
    if (this.#attemptsLeft-- === 0) throw new Unsettled(this.#open);
    this.seen.attempted(i, nowMs);
    return (this.#deliveries[i] ??= deliveryFrom(this.#senderOf(i), `delivery-${String(i)}`));
  }

  /** The handler has ended, and its sender has the answer. */
  completed(i: number, waitedMs: number, nowMs: number): void {
    this.seen.handled(i);
    this.seen.completed(i, waitedMs, nowMs);
    this.#succeeded(i, nowMs);
  }

  /** The handler has ended after its sender had disconnected. */
  completedInVain(i: number): void {
    this.seen.handled(i);
  }

  /**
   * The attempt was answered, with any status.
   *
   * @param retryAfterS - as the sender reads it.
   */
  answered(i: number, status: number, nowMs: number, retryAfterS?: number): Fate {
    const conclusion = conclusionOf(this.#senderOf(i).profile, status);
    if (conclusion === 'success') {
      this.#succeeded(i, nowMs);
      return 'delivered';
    }
    if (conclusion === 'failure') return this.#failed(i, retryAfterS, status, nowMs);
    const endpoint = this.#endpointOf(i);
    endpoint.failed(this.seen.attempts[i] as number, nowMs * this.#speed);
    if (conclusion === 'gone') endpoint.gone(nowMs * this.#speed);
    return this.#lose(i);
  }

  /** @param retryAfterS - as the sender reads it. */
  refused(i: number, retryAfterS: number | undefined, status: 429 | 503, nowMs: number): void {
    this.seen.refused(i, retryAfterS ?? 0, nowMs);
    this.#failed(i, retryAfterS, status, nowMs);
  }

  timedOut(i: number, nowMs: number): Fate {
    return this.#failed(i, undefined, undefined, nowMs);
  }

  /** How long ago the first attempt was due, for the sender: waits are as long as it says, requests as they took. */
  ageMs(i: number, nowMs: number): number {
    return nowMs - (this.#traffic.firstMs[i] as number) + (this.#speed - 1) * (this.#waitedMs[i] as number);
  }

  #succeeded(i: number, nowMs: number): void {
    this.#endpointOf(i).succeeded(nowMs * this.#speed);
    this.#close(i);
  }

  #failed(i: number, retryAfterS: number | undefined, status: number | undefined, nowMs: number): Fate {
    const { retry, maxAttempts } = this.#senderOf(i);
    const attempts = this.seen.attempts[i] as number;
    this.#endpointOf(i).failed(attempts, nowMs * this.#speed);
    const ageS = this.ageMs(i, nowMs) / 1000;
    const isLast = maxAttempts > 0 && attempts >= maxAttempts;
    const delayS = isLast ? undefined : retry({ attempts, retryAfterS, status, ageS }, this.#random);
    if (delayS === undefined) return this.#lose(i);
    const delayMs = (delayS * 1000) / this.#speed;
    this.#waitedMs[i] = (this.#waitedMs[i] as number) + delayMs;
    this.agenda.push(nowMs + delayMs, i);
    return 'retried';
  }

  #lose(i: number): 'lost' {
    this.seen.lost += 1;
    this.#close(i);
    return 'lost';
  }

  #close(i: number): void {
    this.#open -= 1;
    this.#deliveries[i] = undefined;
  }

  #endpointOf(i: number): Endpoint {
    return this.#endpoints[this.#traffic.sender[i] as number] as Endpoint;
  }

  #senderOf(i: number): Sender {
    return this.#senders[this.#traffic.sender[i] as number] as Sender;
  }
}

/** A delivery of the sender as the receiver sees it: with a profile, what the middleware makes of its headers. */
function deliveryFrom(sender: Sender, id: string): Delivery {
  const { key, profile, recognized, identified, delivery } = sender;
  if (profile === undefined) return { ...delivery, key, id: identified ? id : undefined };
  if (!recognized) return { ...delivery, key };
  const headers = identified && profile.id !== undefined ? { [profile.id]: id } : {};
  const described: Delivery = { ...deliveryOf(profile, headers), key };
  if (delivery.priority !== undefined) described.priority = delivery.priority;
  if (delivery.retries !== undefined) described.retries = delivery.retries;
  if (delivery.maxWaitMs !== undefined) described.maxWaitMs = delivery.maxWaitMs;
  if (delivery.statusCode !== undefined) described.statusCode = delivery.statusCode;
  return described;
}

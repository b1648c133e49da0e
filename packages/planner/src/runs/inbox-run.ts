import type { Inbox, InboxAnswer, InboxDelivery, InboxEvent } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Alarm } from '../base/alarm.ts';
import { Turns } from '../base/turns.ts';
import { InboxObservations } from '../observations/inbox-observations.ts';
import type { Observations } from '../observations/observations.ts';
import { inboxOf, originOf, requestOf } from '../receivers/inbox.ts';
import type { ScenarioInbox } from '../scenario/inbox.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import type { Traffic } from '../traffic/traffic.ts';

const MS_PER_S = 1000;

/** A running handler. */
interface Handler {
  readonly i: number;
  readonly startedMs: number;
  readonly waitedMs: number;
  readonly end: () => void;
}

/**
 * Runs a scenario through a real inbox, until every delivery that was stored is handled and every other is given up.
 * A delivery counts as delivered when its handler has ended for the first time, whatever its sender believes.
 */
export class InboxRun {
  readonly #traffic: Traffic;
  readonly #clock = manualClock();
  readonly #alarm = new Alarm(this.#clock);
  readonly #turns = new Turns();
  /** Its agenda also holds the timeouts of senders: `traffic.count` + number of the attempt. */
  readonly #senders: Senders;
  readonly #seen: InboxObservations;
  readonly #inbox: Inbox;
  readonly #downstream: Downstream;
  readonly #handlers = new Map<number, Handler>();
  /** The attempts that wait for their answers, by number: the index of the delivery. */
  readonly #waiting = new Map<number, number>();
  /** Requests without an answer, also of senders that have disconnected. */
  #requests = 0;
  /** Deliveries that are stored and unfinished. */
  #depth = 0;
  #nextAttempt = 0;
  #nextHandler = 0;

  constructor(scenario: Scenario, inbox: ScenarioInbox, traffic: Traffic, maxAttempts: number) {
    this.#traffic = traffic;
    this.#senders = new Senders(scenario, traffic, maxAttempts);
    this.#seen = this.#senders.seen.inbox = new InboxObservations(traffic.count);
    this.#downstream = new Downstream(scenario.service);
    this.#inbox = inboxOf(scenario, inbox, this.#clock, this.#handle);
    this.#inbox.subscribe(this.#listen);
  }

  async settle(): Promise<Observations> {
    const { seen } = this.#senders;
    await this.#inbox.opened;
    while (!this.#senders.areDone || this.#requests > 0 || this.#depth > 0) {
      this.#alarm.set(this.#nextMs());
      if (!this.#clock.advanceToNext()) throw new Error('Deliveries are open, but no event is left.');
      // Otherwise it was a timer of the inbox.
      if (!this.#alarm.hasRung) await this.#turns.settle();
      const now = this.#clock.now();
      while (this.#nextMs() <= now) {
        this.#next(now);
        await this.#turns.settle();
        seen.depth(this.#depth, now);
      }
    }
    await this.#inbox.close({ timeoutMs: 0 });
    // A sender may have given up a delivery that was stored.
    seen.lost = seen.completedMs.reduce((lost, atMs) => (Number.isNaN(atMs) ? lost + 1 : lost), 0);
    return seen;
  }

  #nextMs(): number {
    return Math.min(this.#downstream.nextMs(), this.#senders.nextMs);
  }

  /** Processes the next event. At the same time a handler ends first, then senders retry, then new deliveries arrive. */
  #next(now: number): void {
    if (this.#downstream.nextMs() <= now) {
      this.#end(this.#downstream.end(now), now);
      return;
    }
    const item = this.#senders.next(now);
    const { count } = this.#traffic;
    if (item < count) this.#send(item, now);
    else this.#timeOut(item - count, now);
  }

  #send(i: number, now: number): void {
    const delivery = this.#senders.attempt(i, now);
    if (delivery === undefined) return;
    const number = this.#nextAttempt++;
    this.#waiting.set(number, i);
    this.#requests += 1;
    const request = requestOf(i, this.#traffic.sender[i] as number, delivery, now);
    void this.#inbox.receive(request).then((answer) => {
      this.#answered(number, answer);
    });
    const timeoutMs = this.#senders.timeoutMsOf(i);
    if (timeoutMs > 0) this.#senders.agenda.push(now + timeoutMs, this.#traffic.count + number);
  }

  /** The inbox continues: the body has arrived, so it does not notice that the sender has disconnected. */
  #timeOut(number: number, now: number): void {
    const i = this.#waiting.get(number);
    if (i === undefined) return;
    this.#waiting.delete(number);
    this.#senders.timedOut(i, now);
  }

  #answered(number: number, answer: InboxAnswer | null): void {
    this.#turns.note();
    this.#requests -= 1;
    const i = this.#waiting.get(number);
    if (i === undefined || answer === null) return;
    this.#waiting.delete(number);
    const now = this.#clock.now();
    const { status, headers } = answer;
    if (status === 429 || status === 503) {
      const retryAfterS = Number(headers['Retry-After']) / (this.#senders.unitOf(i) === 'ms' ? MS_PER_S : 1);
      this.#senders.refused(i, retryAfterS, status, now);
      return;
    }
    if (this.#senders.acknowledged(i, status, now)) this.#seen.acknowledged(i, now);
  }

  readonly #handle = (delivery: InboxDelivery): Promise<void> =>
    new Promise((end) => {
      this.#turns.note();
      const { i, sentMs } = originOf(delivery);
      const now = this.#clock.now();
      const number = this.#nextHandler++;
      this.#handlers.set(number, { i, startedMs: now, waitedMs: now - sentMs, end });
      this.#downstream.start(number, this.#traffic.serviceMs[i] as number, now);
    });

  #end(number: number, now: number): void {
    const { i, startedMs, waitedMs, end } = this.#handlers.get(number) as Handler;
    this.#handlers.delete(number);
    const { seen } = this.#senders;
    seen.wasBusy(startedMs, now);
    seen.handled(i);
    if (seen.handlings[i] === 1) seen.completed(i, waitedMs, now);
    end();
  }

  readonly #listen = ({ type }: InboxEvent): void => {
    this.#turns.note();
    if (type === 'stored') this.#depth += 1;
    else if (type === 'completed' || type === 'dead') this.#depth -= 1;
    else if (type === 'duplicate') this.#seen.duplicates += 1;
    else if (type === 'shedding' || type === 'accepting') this.#senders.seen.gateToggles += 1;
  };
}

import { inBackground } from '@webhook-backpressure/base';
import {
  createInbox,
  type Inbox,
  type InboxAnswer,
  type InboxDelivery,
  type InboxEvent,
  type InboxRequest,
  type InboxStore,
  memoryStore,
} from '@webhook-backpressure/inbox';
import type { Clock } from '@webhook-backpressure/base';
import type { Delivery } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Alarm, Turns } from '../base/agenda.ts';
import { stream } from '../base/numbers.ts';
import type { ScenarioInbox } from '../scenario/inbox.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Sender } from '../scenario/sender.ts';
import { InboxObservations, type Observations } from '../senders/observations.ts';
import { Senders } from '../senders/senders.ts';
import { Downstream } from '../traffic/downstream.ts';
import type { Traffic } from '../traffic/traffic.ts';

/** The time of day at the beginning of a run: any would do. */
const START_MS = Date.UTC(2026, 0, 1);

const SENDER = 'x-simulated-sender';
const DELIVERY = 'x-simulated-delivery';
const SENT_AT = 'x-simulated-sent-at';
const BODY = new TextEncoder().encode('{}');

/** Creates the inbox of a scenario, with its deliveries in memory. */
function inboxOf(
  { seed, senders }: Scenario,
  { options, commitMs }: ScenarioInbox,
  clock: Clock,
  process: (delivery: InboxDelivery) => Promise<void>,
): Inbox {
  return createInbox({
    ...options,
    process,
    store: commitMs === 0 ? memoryStore() : committingStore(commitMs, clock),
    verify: false,
    senders: senders.map(profileOf),
    clock,
    wallClock: () => START_MS + clock.now(),
    random: stream(seed, 'intake'),
  });
}

/** The request of one attempt of delivery `i`, from the sender with this index. */
function requestOf(i: number, sender: number, { id, profile }: Delivery, atMs: number): InboxRequest {
  const idHeader = profile?.id ?? 'webhook-id';
  const headers = { [SENDER]: String(sender), [DELIVERY]: String(i), [SENT_AT]: String(atMs) };
  return {
    method: 'POST',
    url: '/',
    hint: '',
    headers: id === undefined ? headers : { ...headers, [idHeader]: id },
    read: (body) => {
      body.add(BODY);
      return Promise.resolve('whole');
    },
  };
}

/** Which delivery this is, and when the stored attempt was sent. */
function originOf({ headers }: InboxDelivery): { readonly i: number; readonly sentMs: number } {
  return { i: Number(headers[DELIVERY]), sentMs: Number(headers[SENT_AT]) };
}

/**
 * An inbox knows its senders by profiles: that of the sender, but matched by the simulated header, since the pattern
 * of a real one has no single value. Without a profile, one that says what the deliveries of the sender say in hold mode.
 */
function profileOf({ key, profile, recognized, delivery }: Sender, index: number): SenderProfile {
  const { retries, statusCode, maxWaitMs } = delivery;
  const match = { header: SENDER, value: String(index) };
  const described: SenderProfile = {
    name: key,
    match,
    retries: retries === false ? 'none' : undefined,
    status: statusCode,
    // A profile has the time before the margin for the handler and the response.
    timeoutMs: maxWaitMs === undefined ? undefined : Math.max(maxWaitMs + 500, maxWaitMs / 0.8),
    source: 'the scenario',
    verifiedAt: '2026-01-01',
  };
  if (profile === undefined || !recognized) return described;
  const stated = Object.entries(described).filter(([, value]) => value !== undefined);
  const { source, verifiedAt } = profile;
  return { ...profile, ...Object.fromEntries(stated), source, verifiedAt, handshake: undefined };
}

/** A store with one disk: each call that changes something waits for its commit, one after the other. */
function committingStore(commitMs: number, clock: Clock): InboxStore {
  const store = memoryStore();
  let freeAtMs = 0;
  const commit = (): Promise<void> => {
    const nowMs = clock.now();
    freeAtMs = Math.max(nowMs, freeAtMs) + commitMs;
    return new Promise((resolve) => {
      clock.setTimeout(resolve, freeAtMs - nowMs);
    });
  };
  const [put, settle, claim] = [store.put.bind(store), store.settle.bind(store), store.claim.bind(store)];
  return Object.assign(store, {
    put: async (...call: Parameters<InboxStore['put']>) => {
      await commit();
      return put(...call);
    },
    settle: async (...call: Parameters<InboxStore['settle']>) => {
      await commit();
      return settle(...call);
    },
    claim: async (...call: Parameters<InboxStore['claim']>) => {
      const claimed = await claim(...call);
      if (claimed.length > 0) await commit();
      return claimed;
    },
  });
}

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
    inBackground(
      this.#inbox.receive(request).then((answer) => {
        this.#answered(number, answer);
      }),
    );
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
    if (this.#senders.answered(i, status, now) === 'delivered') this.#seen.acknowledged(i, now);
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

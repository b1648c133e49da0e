import {
  createInbox,
  type Inbox,
  type InboxAnswer,
  type InboxOptions,
  memoryStore,
} from '@webhook-backpressure/inbox';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { seeded } from '../harness.ts';
import { START } from './store/cases/store-fixtures.ts';

const SERVICE_MS = 100;
const STEP_MS = 100;
/** A batch of arrivals is committed in one turn, and its claims take some more. */
const TURNS = 4;
const BODY = new TextEncoder().encode('{}');

/** Deliveries that arrive evenly from the start on. */
export interface Arrivals {
  readonly perSecond: number;
  readonly forS: number;
  /** Whether their senders retry after Retry-After until they are acknowledged. Otherwise they never retry. */
  readonly areRetried: boolean;
}

/** What became of the deliveries. */
export interface Outcome {
  readonly events: number;
  readonly attempts: number;
  readonly acknowledged: number;
  /** When the last handler has ended. */
  readonly clearS: number;
  /** How long the gate was closed, each time. */
  readonly closedS: readonly number[];
}

/** Traffic to an inbox whose handlers take 100 ms each, on the manual clock. */
export class InboxTraffic {
  readonly inbox: Inbox;
  readonly #clock: ManualClock = manualClock();
  readonly #closedS: number[] = [];
  #events = 0;
  #attempts = 0;
  #acknowledged = 0;
  #open = 0;
  #clearMs = 0;

  constructor(options: Partial<InboxOptions>) {
    this.inbox = createInbox({
      store: memoryStore(),
      verify: false,
      clock: this.#clock,
      wallClock: () => START + this.#clock.now(),
      random: seeded(1),
      process: () =>
        new Promise<void>((resolve) => {
          this.#clock.setTimeout(() => {
            this.#clearMs = this.#clock.now();
            resolve();
          }, SERVICE_MS);
        }),
      ...options,
    });
    let closedMs = 0;
    this.inbox.subscribe(({ type }) => {
      if (type === 'shedding') closedMs = this.#clock.now();
      if (type === 'accepting') this.#closedS.push((this.#clock.now() - closedMs) / 1000);
    });
  }

  /** Lets the deliveries arrive. */
  async arrive({ perSecond, forS, areRetried }: Arrivals): Promise<Outcome> {
    await turns();
    const perStep = (perSecond * STEP_MS) / 1000;
    for (let due = perStep; this.#clock.now() < forS * 1000; due += perStep) {
      this.#clock.advance(STEP_MS);
      for (; due >= 1; due -= 1) this.#send(this.#events++, areRetried);
      await turns();
    }
    return this.#outcome;
  }

  /** Lets time pass until all deliveries are handled or given up. */
  async finish(): Promise<Outcome> {
    while (this.#open > 0 || this.inbox.snapshot().depth > 0) {
      this.#clock.advance(STEP_MS);
      await turns();
    }
    return this.#outcome;
  }

  get #outcome(): Outcome {
    return {
      events: this.#events,
      attempts: this.#attempts,
      acknowledged: this.#acknowledged,
      clearS: this.#clearMs / 1000,
      closedS: this.#closedS,
    };
  }

  #send(number: number, isRetried: boolean): void {
    this.#attempts += 1;
    this.#open += 1;
    const received = this.inbox.receive({
      headers: { 'webhook-id': String(number) },
      hint: 'Do not.',
      read: (body) => {
        body.add(BODY);
        return Promise.resolve('whole');
      },
    });
    void received.then((answer) => {
      this.#note(number, isRetried, answer);
    });
  }

  #note(number: number, isRetried: boolean, answer: InboxAnswer | null): void {
    const { status = 0, headers = {} } = answer ?? {};
    if (status < 300) this.#acknowledged += 1;
    if (status < 300 || !isRetried) {
      this.#open -= 1;
      return;
    }
    this.#clock.setTimeout(
      () => {
        this.#open -= 1;
        this.#send(number, isRetried);
      },
      Number(headers['Retry-After']) * 1000,
    );
  }
}

async function turns(): Promise<void> {
  for (let at = 0; at < TURNS; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

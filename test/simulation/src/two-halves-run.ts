import { memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { createSender, type EndpointLimits, type Sender } from '@webhook-backpressure/sender';
import {
  Alarm,
  Observations,
  type Scenario,
  type Traffic,
  stream,
} from '@webhook-backpressure/planner/parts';
import { INDEX_HEADER, KEY_HEADER, TwoHalvesReceiver, type ReceiverSetup } from './two-halves-receiver.ts';

/** How the two halves are set up. */
export interface TwoHalvesSetup extends ReceiverSetup {
  readonly limits: EndpointLimits;
}

/** The time of day at the beginning: with the real one, no two runs would be the same. */
const BEGIN_MS = Date.UTC(2026, 0, 1);
const ENDPOINT = 'receiver';
/** Turns of the event loop in which the sender and the receiver react to one event. More change nothing. */
const TURNS = 4;
/** As the sender has several calls in one turn. */
const MAX_IDLE_EVENTS = 1_000_000;

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Runs a scenario through real senders, one for each sender of the scenario, and a real intake, on one manual clock, until
 * every event is delivered. How the scenario says that its senders retry does not matter.
 */
export class TwoHalvesRun {
  readonly seen: Observations;
  readonly #scenario: Scenario;
  readonly #traffic: Traffic;
  readonly #clock = manualClock();
  readonly #alarm = new Alarm(this.#clock);
  readonly #receiver: TwoHalvesReceiver;
  readonly #senders: readonly Sender[];
  #nextArrival = 0;
  #open: number;

  constructor(scenario: Scenario, setup: TwoHalvesSetup, traffic: Traffic) {
    this.#scenario = scenario;
    this.#traffic = traffic;
    this.#open = traffic.count;
    this.seen = new Observations(traffic.count);
    this.#receiver = new TwoHalvesReceiver(scenario, setup, traffic, this.#clock, this.seen);
    this.#senders = scenario.senders.map((_, index) => {
      const sender = createSender({
        store: memoryStore(),
        endpoint: () => ({ url: 'https://receiver.example/webhooks', secret: null, ...setup.limits }),
        fetch: this.#receiver.fetch,
        clock: this.#clock,
        wallClock: () => BEGIN_MS + this.#clock.now(),
        random: stream(scenario.seed, `sender ${String(index)}`),
        capacity: traffic.count + 1,
      });
      sender.subscribe(({ type }) => {
        if (type === 'delivered') this.#open -= 1;
        else if (type === 'dead') throw new Error('An event became a dead letter.');
      });
      return sender;
    });
  }

  async settle(): Promise<Observations> {
    await this.#react();
    for (let idle = 0; this.#open > 0; idle += 1) {
      const { nextMs } = this.#receiver;
      this.#alarm.set(Math.min(nextMs, this.#traffic.firstMs[this.#nextArrival] ?? Infinity));
      if (!this.#clock.advanceToNext() || idle > MAX_IDLE_EVENTS) {
        throw new Error(`${String(this.#open)} events are open, but nothing happens.`);
      }
      const now = this.#clock.now();
      for (; this.#receiver.nextMs <= now; idle = 0) this.#receiver.end(now);
      for (; (this.#traffic.firstMs[this.#nextArrival] ?? Infinity) <= now; idle = 0)
        this.#send(this.#nextArrival++);
      await this.#react();
    }
    await Promise.all(this.#senders.map((sender) => sender.close()));
    return this.seen;
  }

  #send(i: number): void {
    const index = this.#traffic.sender[i] as number;
    const key = this.#scenario.senders[index]?.key ?? '';
    const headers = { [INDEX_HEADER]: String(i), [KEY_HEADER]: key };
    const sent = this.#senders[index]?.send({ endpoint: ENDPOINT, type: 'event', data: null, headers });
    sent?.catch((error: unknown) => {
      throw error;
    });
  }

  async #react(): Promise<void> {
    for (let i = 0; i < TURNS; i += 1) await turn();
  }
}

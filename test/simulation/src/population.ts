import type { Delivery } from '@webhook-backpressure/core';
import type { Random } from './random.ts';
import type { Scenario, Sender } from './scenario.ts';
import type { Traffic } from './traffic.ts';

/** The deliveries of a run and their senders. A delivery is its index into the traffic, `i`. */
export class Population {
  readonly #senders: readonly Sender[];
  readonly #traffic: Traffic;
  readonly #random: Random;
  readonly #deliveries: (Delivery | undefined)[];

  constructor({ senders }: Scenario, traffic: Traffic, random: Random) {
    this.#senders = senders;
    this.#traffic = traffic;
    this.#random = random;
    this.#deliveries = new Array<Delivery | undefined>(traffic.count);
  }

  senderOf(i: number): Sender {
    return this.#senders[this.#traffic.sender[i] as number] as Sender;
  }

  deliveryOf(i: number): Delivery {
    const { key, identified, delivery } = this.senderOf(i);
    return (this.#deliveries[i] ??= {
      ...delivery,
      key,
      id: identified ? `delivery-${String(i)}` : undefined,
    });
  }

  /** The delivery is handled or given up. */
  forget(i: number): void {
    this.#deliveries[i] = undefined;
  }

  /** Seconds until its sender tries again; undefined when it gives up. */
  retryDelayS(
    i: number,
    attempts: number,
    toldS: number | undefined,
    status: 429 | 503 | undefined,
  ): number | undefined {
    const { retry, maxAttempts } = this.senderOf(i);
    const isLast = maxAttempts > 0 && attempts >= maxAttempts;
    return isLast ? undefined : retry({ attempts, toldS, status }, this.#random);
  }
}

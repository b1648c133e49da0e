import type { Delivery, Permit, Refusal } from '@webhook-backpressure/core';
import { exponential } from './harness.ts';
import type { Bench } from './harness.ts';
import { percentile, runUntil } from './workshop.ts';

/** A sender of deliveries, well-behaved or not. */
export interface Party {
  readonly name: string;
  readonly perSecond: number;
  readonly fromS: number;
  readonly toS: number;
  /** Whether it honors Retry-After. */
  readonly returns: boolean;
  /** Its i-th delivery, the same at each attempt. Default: its name as key, and an id. */
  delivery?(i: number): Delivery;
}

/** The deliveries of a party, and their outcome. */
class Account {
  attempts = 0;
  /** Times of the first attempts, in seconds. */
  readonly arrivedS: number[] = [];
  lost = 0;
  /** Times of completion, and the delays since the first attempt, in seconds. */
  readonly completed: { readonly atS: number; readonly afterS: number }[] = [];
  /** The values of Retry-After that it got, in seconds. */
  readonly told: { readonly atS: number; readonly seconds: number }[] = [];

  get events(): number {
    return this.arrivedS.length;
  }

  /** New deliveries per second between two times. */
  offered(fromS: number, toS: number): number {
    return this.arrivedS.filter((atS) => atS >= fromS && atS < toS).length / (toS - fromS);
  }

  /** Completions per second between two times. */
  rate(fromS: number, toS: number): number {
    return this.completed.filter(({ atS }) => atS >= fromS && atS < toS).length / (toS - fromS);
  }

  delayS(p: number): number {
    return percentile(
      this.completed.map(({ afterS }) => afterS),
      p,
    );
  }

  longestTold(fromS = 0, toS = Infinity): number {
    return this.told.reduce(
      (longest, { atS, seconds }) => (atS >= fromS && atS < toS ? Math.max(longest, seconds) : longest),
      0,
    );
  }
}

/** Parties that send at random to one intake with random handling times. */
export class Marketplace {
  readonly #bench: Bench;
  readonly #random: () => number;
  readonly #serviceMs: number;
  readonly #accounts = new Map<string, Account>();
  /** Deliveries queued beyond the effective capacity right after one was admitted. */
  overflows = 0;

  constructor(bench: Bench, random: () => number, serviceMs: number) {
    this.#bench = bench;
    this.#random = random;
    this.#serviceMs = serviceMs;
  }

  of(name: string): Account {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new Error(`there is no account named ${name}`);
    return account;
  }

  join(party: Party): void {
    const account = new Account();
    this.#accounts.set(party.name, account);
    const { clock } = this.#bench;
    const next = (): void => {
      const ms = exponential(this.#random, 1000 / party.perSecond);
      if (clock.now() + ms >= party.toS * 1000) return;
      clock.setTimeout(() => {
        const i = account.arrivedS.push(clock.now() / 1000);
        const delivery = party.delivery?.(i) ?? { key: party.name, id: `${party.name} ${String(i)}` };
        this.#attempt(party, account, delivery, clock.now());
        next();
      }, ms);
    };
    clock.setTimeout(next, party.fromS * 1000);
  }

  /** Lets time pass until then. */
  async run(untilS: number): Promise<void> {
    await runUntil(this.#bench.clock, untilS * 1000);
  }

  #attempt(party: Party, account: Account, delivery: Delivery, firstMs: number): void {
    account.attempts += 1;
    const { intake } = this.#bench;
    const result = intake.admit(delivery);
    const settle = (settled: Permit | Refusal): void => {
      if (settled.admitted) this.#work(settled, account, firstMs);
      else this.#turnedAway(party, account, delivery, firstMs, settled.retryAfterSeconds);
    };
    if (!result.admitted) {
      settle(result);
      return;
    }
    const { depth, effectiveCapacity, capacity } = intake.snapshot();
    if (depth > Math.min(effectiveCapacity, capacity)) this.overflows += 1;
    if (result.permit instanceof Promise) void result.permit.then(settle);
    else settle(result.permit);
  }

  #work(permit: Permit, account: Account, firstMs: number): void {
    const { clock } = this.#bench;
    clock.setTimeout(
      () => {
        permit.release();
        account.completed.push({ atS: clock.now() / 1000, afterS: (clock.now() - firstMs) / 1000 });
      },
      exponential(this.#random, this.#serviceMs),
    );
  }

  #turnedAway(party: Party, account: Account, delivery: Delivery, firstMs: number, seconds: number): void {
    const { clock } = this.#bench;
    account.told.push({ atS: clock.now() / 1000, seconds });
    if (!party.returns) {
      account.lost += 1;
      return;
    }
    clock.setTimeout(() => {
      this.#attempt(party, account, delivery, firstMs);
    }, seconds * 1000);
  }
}

import { builtInSenders, type SenderProfile } from '@webhook-backpressure/senders';
import type { Admission, Delivery, Permit, Refusal } from '@webhook-backpressure/core';
import type { ManualClock } from '@webhook-backpressure/core/testing';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import { createBench, exponential, seeded, type Bench } from './harness.ts';
import { runUntil } from './workshop.ts';

/** A sender of a mixture. */
export interface Member {
  /** The name of a built-in profile, or `default` for an unknown sender. */
  readonly sender: string;
  /** Default: the name of the sender. */
  readonly key?: string;
  readonly perSecond: number;
  /** How many deliveries arrive at the same moment. Default 1. */
  readonly clump?: number;
  /** Other fields of its deliveries. */
  readonly delivery?: Delivery;
  readonly untilS: number;
}

/** How the deliveries of a member ended. */
interface Outcome {
  events: number;
  attempts: number;
  delivered: number;
  lost: number;
  /** Whether the failures would have disabled the endpoint. */
  isOff: boolean;
  readonly lostBy: Record<string, number>;
}

interface MixtureOptions {
  readonly seed: number;
  readonly service?: { readonly ms: number; readonly isExponential?: boolean };
  readonly intake?: Parameters<typeof createBench>[0];
  readonly untilS: number;
}

/** Where the pages of a sender do not give its retries. */
const SCHEDULES: Record<string, readonly number[]> = {
  slack: [0, 60, 300],
  shopify: [10, 30, 90, 300, 900, 1800, 3600, 7200],
  stripe: [300, 1800, 7200, 18_000, 36_000, 36_000],
  svix: [5, 300, 1800, 7200, 18_000, 36_000, 36_000],
};

/** Real senders, by their profiles, that send to one intake with handlers of 100 ms. */
export async function mix(
  members: readonly Member[],
  { seed, service = { ms: 100 }, intake, untilS }: MixtureOptions,
): Promise<Map<string, Outcome>> {
  const bench = createBench({
    retryAfter: { strategy: 'booked' },
    ...intake,
    random: seeded(1000 + seed),
  });
  const random = seeded(seed);
  const serviceMs = (): number =>
    service.isExponential === true ? exponential(random, service.ms) : service.ms;
  const outcomes = new Map<string, Outcome>();
  for (const [i, member] of members.entries()) {
    const party = new Party(bench, member, seeded(seed * 1000 + i), serviceMs);
    outcomes.set(member.key ?? member.sender, party.outcome);
    party.start();
  }
  await runUntil(bench.clock, untilS * 1000);
  return outcomes;
}

class Party {
  readonly outcome: Outcome = { events: 0, attempts: 0, delivered: 0, lost: 0, isOff: false, lostBy: {} };
  readonly #bench: Bench;
  readonly #clock: ManualClock;
  readonly #member: Member;
  readonly #profile: SenderProfile | undefined;
  readonly #random: () => number;
  readonly #serviceMs: () => number;
  #inARow = 0;

  constructor(bench: Bench, member: Member, random: () => number, serviceMs: () => number) {
    this.#bench = bench;
    this.#clock = bench.clock;
    this.#member = member;
    this.#profile = builtInSenders.find(({ name }) => name === member.sender);
    this.#random = random;
    this.#serviceMs = serviceMs;
  }

  start(): void {
    const { perSecond, clump = 1, untilS } = this.#member;
    const next = (): void => {
      const ms = exponential(this.#random, (1000 * clump) / perSecond);
      if (this.#clock.now() + ms >= untilS * 1000) return;
      this.#clock.setTimeout(() => {
        for (let i = 0; i < clump; i += 1) this.#send();
        next();
      }, ms);
    };
    next();
  }

  #send(): void {
    const { key, sender, delivery } = this.#member;
    const profile = this.#profile;
    this.outcome.events += 1;
    const id = `${key ?? sender} ${String(this.outcome.events)}`;
    const known = profile === undefined ? {} : deliveryOf(profile, {});
    this.#attempt({ ...known, key: key ?? sender, id, ...delivery }, 1);
  }

  #attempt(delivery: Delivery, attempt: number): void {
    this.outcome.attempts += 1;
    const { intake } = this.#bench;
    const { timeoutMs } = this.#profile ?? {};
    const result = intake.admit(delivery);
    let isOver = false;
    const fail = (by: string, refusal?: Refusal): void => {
      if (isOver) return;
      isOver = true;
      this.#failed(delivery, attempt, by, refusal);
    };
    if (!result.admitted) {
      fail(result.reason, result);
      return;
    }
    const admission: Admission = result;
    if (timeoutMs !== undefined) {
      this.#clock.setTimeout(() => {
        if (isOver) return;
        admission.leave();
        fail('timeout');
      }, timeoutMs);
    }
    const settle = (settled: Permit | Refusal): void => {
      if (!settled.admitted) {
        fail(`withdrawn ${settled.reason}`, settled);
        return;
      }
      this.#clock.setTimeout(() => {
        settled.release();
        if (isOver) return;
        isOver = true;
        this.outcome.delivered += 1;
        this.#inARow = 0;
      }, this.#serviceMs());
    };
    if (admission.permit instanceof Promise) void admission.permit.then(settle);
    else settle(admission.permit);
  }

  #failed(delivery: Delivery, attempt: number, by: string, refusal: Refusal | undefined): void {
    this.#inARow += 1;
    const limit = this.#profile?.switchOff?.inARow;
    if (limit !== undefined && this.#inARow >= limit) this.outcome.isOff = true;
    const waitS = this.#waitS(attempt, refusal);
    this.outcome.lostBy[by] = (this.outcome.lostBy[by] ?? 0) + 1;
    if (waitS === undefined) {
      this.outcome.lost += 1;
      return;
    }
    this.#clock.setTimeout(() => {
      this.#attempt(delivery, attempt + 1);
    }, waitS * 1000);
  }

  #waitS(attempt: number, refusal: Refusal | undefined): number | undefined {
    const { sender } = this.#member;
    if (this.#profile?.retries === 'none') return undefined;
    const schedule = SCHEDULES[sender];
    if (sender === 'svix') {
      const step = schedule?.[attempt - 1];
      if (step === undefined) return undefined;
      return Math.min(2 * step, Math.max(step, refusal?.retryAfterSeconds ?? step));
    }
    if (schedule !== undefined) return schedule[attempt - 1];
    // An unknown sender ignores Retry-After, Hookdeck honors it.
    if (sender === 'hookdeck') return attempt >= 50 ? undefined : (refusal?.retryAfterSeconds ?? 60);
    return attempt >= 8 ? undefined : 5 * 2 ** (attempt - 1) * (0.8 + 0.4 * this.#random());
  }
}

import {
  refusalNewsOf,
  refusalStateOf,
  type RefusalExchange,
  type RefusalNews,
  type RefusalState,
  type RefusalView,
} from './fleet-exchange.ts';
import { FleetPace, STALE_MS } from './fleet-pace.ts';
import type { RetryAfterSeconds } from './retry-after.ts';
import type { FleetRates, Situation } from './situation.ts';

/** The maximum of keys in the news of one beat, and in its state. */
const MAX_KEYS = 32;
const MAX_AHEAD = 8;
/** Longer keys are reported as one, so that the state fits into 4 KiB and the news into 64 KiB, whatever is in the keys. */
const MAX_KEY = 64;
/** The name of the line, and of all further keys, in what the receivers exchange. */
const LINE = '';
/** How long a change of the number of members may change the rate of the fleet. */
const SETTLING_MS = 20_000;
/** The maximum of keys that wait for a beat. */
const MAX_WAITING_KEYS = 1000;

/**
 * Books the retries of one receiver behind those of all receivers of a fleet. Behind a balancer that prefers idle receivers,
 * some of them refuse all deliveries, and their own bookings would take several times as long as the fleet needs.
 */
export class SharedRefusals implements RefusalExchange, FleetRates {
  readonly #retryAfter: RetryAfterSeconds;
  readonly #look: (nowMs: number) => Situation;
  readonly #pace = new FleetPace();
  #others: readonly RefusalState[] = [];
  #isNew = true;
  /** When the number of members last changed. */
  #changedMs = -Infinity;
  /** When the last news that were delivered were written, or the first ones that were not. */
  #deliveredMs: number | undefined;
  /** New bookings by key that the others do not know. */
  readonly #booked = new Map<string, number>();
  /** What the last {@link news} contained: bookings continue while they are on their way. */
  #sent: { readonly atMs: number; readonly booked: ReadonlyMap<string, number> } | undefined;
  /** By key, the time that bookings since the last beat have taken in the schedule, and how many these are. */
  readonly #taken = new Map<string, { ms: number; count: number }>();

  /** @param look - the situation of this receiver. */
  constructor(retryAfter: RetryAfterSeconds, look: (nowMs: number) => Situation) {
    this.#retryAfter = retryAfter;
    this.#look = look;
    retryAfter.fleet = this;
  }

  get othersRate(): number {
    return this.#pace.othersRate;
  }

  share(nowMs: number): number {
    return this.#pace.share(nowMs);
  }

  /**
   * Whether the rate of the fleet says how fast the retries will be handled: not while the others take over the share of a
   * receiver that has died, or give a new one its share.
   */
  isSettled(nowMs: number): boolean {
    return nowMs - this.#changedMs > SETTLING_MS;
  }

  /**
   * A new receiver takes the drain rate and the age of the pace from the others. The gap is that of the receiver that has
   * completed a delivery most recently: one with few workers often has a gap by chance, and a retry may go to any of them.
   */
  complete(own: Situation): Situation {
    const others = this.#others;
    if (others.length === 0) return own;
    const rates = others.flatMap(({ drainRate }) => (drainRate > 0 ? [drainRate] : []));
    const rate = rates.length === 0 ? null : sum(rates) / rates.length;
    return {
      ...own,
      drainRate: own.drainRate ?? rate,
      presentRate: own.presentRate ?? rate,
      paceAgeS: Math.max(own.paceAgeS, Math.min(...others.map((one) => one.paceAgeS))),
      gapFactor: Math.min(own.gapFactor, ...others.map((one) => one.gapFactor)),
    };
  }

  booked(key: string, spacingMs: number): void {
    this.#pace.noteBooking();
    const named = this.#booked.has(key) || this.#booked.size < MAX_WAITING_KEYS ? key : LINE;
    this.#booked.set(named, (this.#booked.get(named) ?? 0) + 1);
    const taken = this.#taken.get(named);
    if (taken === undefined) this.#taken.set(named, { ms: spacingMs, count: 1 });
    else {
      taken.ms += spacingMs;
      taken.count += 1;
    }
  }

  state(nowMs: number): RefusalState {
    const own = this.#look(nowMs);
    const rate = this.complete(own).drainRate;
    const ends = [...this.#retryAfter.ends(nowMs)]
      .map(([key, ms]) => [key ?? LINE, ms] as const)
      .filter(([key]) => key.length <= MAX_KEY);
    return {
      returnRate: rate === null ? 0 : this.#retryAfter.retryRate(rate),
      drainRate: own.drainRate ?? 0,
      paceAgeS: own.paceAgeS,
      gapFactor: own.gapFactor,
      ahead: ends
        .sort(([a, aMs], [b, bMs]) => Number(a !== LINE) - Number(b !== LINE) || bMs - aMs)
        .slice(0, MAX_AHEAD + 1)
        .map(([key, ms]) => [key, Math.round(ms / 100) / 10] as const),
      isShedding: this.#retryAfter.arrivals.isShedding(nowMs),
    };
  }

  news(nowMs: number): RefusalNews {
    const keys = [...this.#booked].sort(([, a], [, b]) => b - a);
    const booked = keys.filter(([key]) => key.length <= MAX_KEY).slice(0, MAX_KEYS);
    const rest = sum([...this.#booked.values()]) - sum(booked.map(([, count]) => count));
    if (rest > 0) booked.push([LINE, rest]);
    this.#deliveredMs ??= nowMs;
    this.#sent = { atMs: nowMs, booked: new Map(keys) };
    return { spanS: (nowMs - this.#deliveredMs) / 1000, booked };
  }

  delivered(): void {
    const sent = this.#sent;
    if (sent === undefined) return;
    this.#sent = undefined;
    this.#deliveredMs = sent.atMs;
    for (const [key, count] of sent.booked) {
      const left = (this.#booked.get(key) ?? 0) - count;
      if (left > 0) this.#booked.set(key, left);
      else this.#booked.delete(key);
    }
  }

  learn(view: RefusalView, nowMs: number): void {
    const others = known(view.others.map(refusalStateOf));
    const news = known(view.news.map(refusalNewsOf));
    const retryAfter = this.#retryAfter;
    const pace = this.#pace;
    if (pace.members !== 1 + view.others.length) this.#changedMs = nowMs;
    pace.members = 1 + view.others.length;
    pace.othersRate = sum(others.map((one) => one.returnRate));
    // The burst begins at all of them: otherwise one that begins to shed later takes it for first attempts of before.
    if (others.some((one) => one.isShedding)) retryAfter.shed(nowMs, false);
    this.#others = others;
    if (this.#isNew && others.length > 0) this.#takeOver(others, nowMs);
    // Without the registry each has booked an equal share, so there is nothing to correct.
    const wasLost = pace.isStale(nowMs);
    if (wasLost) this.#taken.clear();
    const counts = countByKey(wasLost ? [] : news.filter(({ spanS }) => spanS * 1000 <= STALE_MS));
    pace.learn(sum([...counts.values()]), nowMs);
    const { drainRate } = this.complete(this.#look(nowMs));
    const rate = pace.othersRate + (drainRate === null ? 0 : retryAfter.retryRate(drainRate));
    if (rate > 0) this.#correct(counts, 1000 / rate, nowMs);
    this.#taken.clear();
  }

  leave(): void {
    this.#pace.leave();
    this.#others = [];
    this.#isNew = true;
    this.#taken.clear();
  }

  /** Retries are booked already, by the others. */
  #takeOver(others: readonly RefusalState[], nowMs: number): void {
    this.#isNew = false;
    const own = this.#ends(nowMs);
    for (const { ahead } of others) {
      for (const [key, seconds] of ahead) own.set(key, Math.max(own.get(key) ?? 0, seconds * 1000));
    }
    for (const [key, aheadMs] of own) this.#retryAfter.moveEnd(key === LINE ? null : key, aheadMs, nowMs);
  }

  /** The ends of the bookings of this receiver. A key that is named like the line counts as part of it. */
  #ends(nowMs: number): Map<string, number> {
    return new Map([...this.#retryAfter.ends(nowMs)].map(([key, aheadMs]) => [key ?? LINE, aheadMs]));
  }

  /** Each booking takes 1 ÷ the rate of the fleet in the schedule, whichever receiver it was made at. */
  #correct(others: ReadonlyMap<string, number>, spacingMs: number, nowMs: number): void {
    const ends = this.#ends(nowMs);
    for (const key of new Set([...this.#taken.keys(), ...others.keys()])) {
      const { ms, count } = this.#taken.get(key) ?? { ms: 0, count: 0 };
      const moreMs = (count + (others.get(key) ?? 0)) * spacingMs - ms;
      // The first bookings of keys are in the line, until another receiver has more of them.
      const named = ends.has(key) || moreMs > 0 ? key : LINE;
      const accounts = ends.size - (ends.has(named) ? 1 : 0);
      const shares = named === LINE ? 1 : Math.max(1, accounts);
      const aheadMs = Math.max(0, (ends.get(named) ?? 0) + moreMs * shares);
      this.#retryAfter.moveEnd(named === LINE ? null : named, aheadMs, nowMs);
      ends.set(named, aheadMs);
    }
  }
}

function countByKey(news: readonly RefusalNews[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { booked } of news) {
    for (const [key, count] of booked) counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return counts;
}

function known<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

import type { Bookings } from './bookings.ts';
import {
  refusalNewsOf,
  refusalStateOf,
  type RefusalExchange,
  type RefusalNews,
  type RefusalState,
  type RefusalView,
} from './fleet-exchange.ts';
import { FleetPace, STALE_MS } from './fleet-pace.ts';
import { promiseHash } from './promise-hash.ts';
import type { Reservation } from './reservations.ts';
import type { ReturningShare } from './returning-share.ts';
import { SharedPromises, type SharedPromise } from './shared-promises.ts';
import type { Situation } from './situation.ts';

/** The maximum of promises, of used promises and of keys in the news of one beat. */
const MAX_PROMISES = 1000;
const MAX_USED = 1000;
const MAX_KEYS = 32;
/** The same of its state. */
const MAX_AHEAD = 8;
/** Longer keys are reported as one, so that the state fits into 4 KiB and the news into 64 KiB, whatever is in the keys. */
const LONGEST_KEY = 64;
/** How long a change of the number of members may change the rate of the fleet. */
const SETTLING_MS = 20_000;
/** The maximum of promises, and of keys, that wait for a beat. */
const MAX_WAITING = 10_000;
const MAX_WAITING_KEYS = 1000;

/** The parts of the refusals of this receiver that its fleet reads and writes. */
export interface SharedParts {
  readonly bookings: Bookings;
  readonly returning: ReturningShare;
  readonly look: (nowMs: number) => Situation;
  /** Retries per second that this receiver can handle. */
  readonly returnRate: (steadyRate: number) => number;
  readonly advance: (situation: Situation) => void;
  /** Another receiver sheds. */
  readonly shed: (nowMs: number) => void;
}

/** See {@link RefusalExchange}. */
export class SharedRefusals implements RefusalExchange {
  readonly #parts: SharedParts;
  readonly #pace = new FleetPace();
  readonly #promises = new SharedPromises();
  #othersGapFactor = Infinity;
  #others: readonly RefusalState[] = [];
  #isNew = true;
  /** When the number of members last changed. */
  #changedMs = -Infinity;
  /** When the last news that were delivered were written, or the first ones that were not. */
  #deliveredMs: number | undefined;
  #arrivedBefore = 0;
  #dueBefore = 0;
  /** New bookings by key that the others do not know. */
  readonly #booked = new Map<string, number>();
  /** Promises that the others do not know: their hashes, and when they are due. */
  readonly #added = new Map<number, number>();
  readonly #used = new Set<number>();
  /** What the last {@link news} contained: bookings and arrivals continue while they are on their way. */
  #sent:
    { atMs: number; news: RefusalNews; booked: Map<string, number>; added: Map<number, number> } | undefined;
  /** By key, the time that bookings since the last beat have taken in the schedule, and how many these are. */
  readonly #taken = new Map<string, { ms: number; count: number }>();

  constructor(parts: SharedParts) {
    this.#parts = parts;
  }

  /** Retries per second that the other members can handle. */
  get othersRate(): number {
    return this.#pace.othersRate;
  }

  /** The part of the fleet's rate at which this receiver books now. */
  share(nowMs: number): number {
    return this.#pace.share(nowMs);
  }

  /**
   * The gap of the receiver that has completed a delivery most recently. A receiver with few workers often has a gap by
   * chance, and a retry may go to any of them.
   */
  gapFactor(own: number): number {
    return Math.min(own, this.#othersGapFactor);
  }

  /**
   * Whether the rate of the fleet says how fast the retries will be handled: not while the others take over the share of a
   * receiver that has died, or give a new one its share.
   */
  isSettled(nowMs: number): boolean {
    return nowMs - this.#changedMs > SETTLING_MS;
  }

  /** The drain rate of a receiver that does not know its own yet: that of an average one of the others. */
  drainRate(own: number | null): number | null {
    if (own !== null) return own;
    const rates = this.#others.flatMap(({ drainRate }) => (drainRate > 0 ? [drainRate] : []));
    return rates.length === 0 ? null : sum(rates) / rates.length;
  }

  /** For how long deliveries have been handled at that rate: by each of the others, if this receiver is new. */
  paceAgeS(own: number): number {
    return Math.max(
      own,
      this.#others.length === 0 ? 0 : Math.min(...this.#others.map((one) => one.paceAgeS)),
    );
  }

  /** The promise of a delivery: here, at another receiver, or none. */
  promiseOf(key: string, id: string, own: Reservation | undefined): Reservation | SharedPromise | undefined {
    if (this.#promises.size === 0) return own;
    const other = this.#promises.find(promiseHash(key, id));
    if (other === undefined) return own;
    return other.isUsed ? undefined : other;
  }

  /** Notes a booking, and its promise if the delivery has an id. */
  booked(key: string, id: string | undefined, spacingMs: number, dueMs: number): void {
    this.#pace.noteBooking();
    const named = this.#booked.has(key) || this.#booked.size < MAX_WAITING_KEYS ? key : '';
    this.#booked.set(named, (this.#booked.get(named) ?? 0) + 1);
    const taken = this.#taken.get(named);
    if (taken === undefined) this.#taken.set(named, { ms: spacingMs, count: 1 });
    else {
      taken.ms += spacingMs;
      taken.count += 1;
    }
    if (id === undefined) return;
    const hash = promiseHash(key, id);
    this.#promises.forget(hash);
    if (this.#added.size < MAX_WAITING) this.#added.set(hash, dueMs);
  }

  /** Notes that the promise of an admitted delivery was used. */
  redeemed(key: string, id: string | undefined): void {
    if (id === undefined) return;
    const hash = promiseHash(key, id);
    this.#promises.forget(hash);
    // Otherwise the others do not know it.
    if (this.#added.delete(hash) && this.#sent?.added.has(hash) !== true) return;
    if (this.#used.size < MAX_WAITING) this.#used.add(hash);
  }

  state(nowMs: number): RefusalState {
    const { bookings, returning, look, returnRate, advance } = this.#parts;
    const situation = look(nowMs);
    advance(situation);
    const { steadyRate } = situation;
    const rate = this.drainRate(steadyRate);
    return {
      returnRate: rate === null ? 0 : returnRate(rate),
      freshRate: returning.freshPerS,
      ...{ drainRate: steadyRate ?? 0, paceAgeS: situation.paceAgeS },
      ahead: bookings.farthest(MAX_AHEAD).flatMap(([key, ms]) => {
        return key.length > LONGEST_KEY ? [] : [[key, Math.round(ms / 100) / 10] as const];
      }),
      gapFactor: situation.gapFactor,
      isShedding: returning.isShedding(nowMs),
    };
  }

  news(nowMs: number): RefusalNews {
    const { returning } = this.#parts;
    const keys = [...this.#booked].sort(([, a], [, b]) => b - a);
    const booked = keys.filter(([key]) => key.length <= LONGEST_KEY).slice(0, MAX_KEYS);
    const rest = sum([...this.#booked.values()]) - sum(booked.map(([, count]) => count));
    if (rest > 0) booked.push(['', rest]);
    const added = new Map([...this.#added].slice(0, MAX_PROMISES));
    this.#deliveredMs ??= nowMs;
    const news = {
      spanS: (nowMs - this.#deliveredMs) / 1000,
      arrived: returning.arrivedEver - this.#arrivedBefore,
      due: returning.dueEver - this.#dueBefore,
      booked,
      added: [...added].flatMap(([hash, dueMs]) => [hash, Math.ceil((dueMs - nowMs) / 1000)]),
      redeemed: [...this.#used].slice(0, MAX_USED),
    };
    this.#sent = { atMs: nowMs, news, booked: new Map(keys), added };
    return news;
  }

  delivered(): void {
    const sent = this.#sent;
    if (sent === undefined) return;
    this.#sent = undefined;
    this.#deliveredMs = sent.atMs;
    this.#arrivedBefore += sent.news.arrived;
    this.#dueBefore += sent.news.due;
    for (const [key, count] of sent.booked) {
      const left = (this.#booked.get(key) ?? 0) - count;
      if (left > 0) this.#booked.set(key, left);
      else this.#booked.delete(key);
    }
    for (const [hash, dueMs] of sent.added) if (this.#added.get(hash) === dueMs) this.#added.delete(hash);
    for (const hash of sent.news.redeemed) this.#used.delete(hash);
  }

  learn(view: RefusalView, nowMs: number): void {
    const others = known(view.others.map(refusalStateOf));
    const news = known(view.news.map(refusalNewsOf));
    const { returning, look, returnRate, advance } = this.#parts;
    const situation = look(nowMs);
    advance(situation);
    const pace = this.#pace;
    if (pace.members !== 1 + view.others.length) this.#changedMs = nowMs;
    pace.members = 1 + view.others.length;
    pace.othersRate = sum(others.map((one) => one.returnRate));
    this.#othersGapFactor = Math.min(Infinity, ...others.map((one) => one.gapFactor));
    // The burst begins at all of them: otherwise one that begins to shed later takes it for first attempts of before.
    if (others.some((one) => one.isShedding)) this.#parts.shed(nowMs);
    this.#others = others;
    if (this.#isNew && others.length > 0) this.#begin(others);
    const freshRate = sum(others.map((one) => one.freshRate));
    // Without the registry each has booked an equal share, so there is nothing to correct.
    const wasLost = pace.isStale(nowMs);
    const recent = wasLost ? [] : news.filter(({ spanS }) => spanS * 1000 <= STALE_MS);
    const arrived = sum(recent.map((one) => one.arrived));
    returning.noteOthers(arrived, sum(recent.map((one) => one.due)), freshRate);
    const counts = countByKey(recent);
    if (wasLost) this.#taken.clear();
    pace.learn(sum([...counts.values()]), nowMs);
    for (const { added, redeemed } of news) this.#learnPromises(added, redeemed, nowMs);
    const steadyRate = this.drainRate(situation.steadyRate);
    const rate = pace.othersRate + (steadyRate === null ? 0 : returnRate(steadyRate));
    if (rate > 0) this.#correct(counts, 1000 / rate);
    this.#taken.clear();
  }

  leave(): void {
    this.#pace.leave();
    this.#othersGapFactor = Infinity;
    this.#others = [];
    this.#isNew = true;
    this.#taken.clear();
  }

  /** Retries are booked already, by the others. */
  #begin(others: readonly RefusalState[]): void {
    this.#isNew = false;
    for (const { ahead } of others) {
      for (const [key, seconds] of ahead) this.#parts.bookings.takeOver(key, seconds * 1000);
    }
  }

  /** Each booking takes 1 ÷ the rate of the fleet in the schedule, whichever receiver it was made at. */
  #correct(others: ReadonlyMap<string, number>, spacingMs: number): void {
    const { bookings } = this.#parts;
    for (const [key, { ms, count }] of this.#taken) {
      bookings.shift(key, (count + (others.get(key) ?? 0)) * spacingMs - ms);
    }
    for (const [key, count] of others) {
      if (!this.#taken.has(key)) bookings.shift(key, count * spacingMs);
    }
  }

  #learnPromises(added: readonly number[], redeemed: readonly number[], nowMs: number): void {
    for (let i = 0; i + 1 < added.length; i += 2) {
      this.#promises.add(added[i] as number, nowMs + (added[i + 1] as number) * 1000, nowMs);
    }
    for (const hash of redeemed) this.#promises.use(hash, nowMs);
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

import { isThenable } from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { ClaimedDelivery, KeyClaim } from '../store/inbox-store.ts';
import type { SuspectRoom } from './crash-suspects.ts';
import { DueKeyList } from './due-key-list.ts';
import type { HandlerRun } from './handler-run.ts';
import { KeyTokens } from './key-tokens.ts';
import { KeyTurns, type Turn } from './key-turns.ts';
import { type ClaimRoom, KeyWants, type Want } from './key-wants.ts';
import { LEASE_MS } from './lease-renewal.ts';

/**
 * The delay of the next try when a delivery is due, but may not be claimed: other processes have claimed all that may be, or
 * it was in flight when a process died, and may not run beside others that were.
 */
const FIRST_RECHECK_MS = 50;
const MAX_RECHECK_MS = 2000;
/** One call tries as many such keys as workers are free, and there is one in this time at most. */
const RECHECK_EVERY_MS = 25;

/** Until tokens are asked for again that became too old during a claim. */
const MIN_WAIT_MS = 1;

/** What the limits of its key say about a claimed delivery. */
export interface Token {
  /** The limit that its token was taken from; undefined: it has none. */
  readonly rate: BucketLimit | undefined;
  /** Whether it may start: its token has not become too old. */
  readonly mayStart: boolean;
}

/**
 * Claims for workers with limits of keys. It knows the keys that have deliveries, lets them take turns, takes tokens for the
 * key whose turn it is, and claims exactly so many of its deliveries. So a key without room costs the others nothing, and
 * nothing is claimed in order to be given back.
 */
export class LimitedClaims {
  readonly #inbox: InboxState;
  readonly tokens: KeyTokens;
  readonly #begin: (claimed: ClaimedDelivery, token: Token) => HandlerRun | undefined;
  readonly #start: (runs: readonly HandlerRun[]) => Promise<void>;
  readonly #turns = new KeyTurns();
  readonly #list: DueKeyList;
  readonly #wants: KeyWants;
  /** Keys of which something is due that could not be claimed, the first first. */
  readonly #deferred = new Set<string>();
  /** How many keys are tried again because nothing could be claimed. */
  #rechecked = 0;
  /** How many workers were free at the last claim. */
  #free = 1;

  /**
   * @param load - how many deliveries of each key this process has claimed before.
   * @param begin - takes on a claimed delivery. Returns its run if it may start.
   * @param start - starts the runs of one call of the store.
   */
  constructor(
    inbox: InboxState,
    load: ReadonlyMap<string, number>,
    begin: (claimed: ClaimedDelivery, token: Token) => HandlerRun | undefined,
    start: (runs: readonly HandlerRun[]) => Promise<void>,
  ) {
    this.#inbox = inbox;
    this.#begin = begin;
    this.#start = start;
    this.tokens = new KeyTokens(inbox);
    this.#wants = new KeyWants(this.#turns, this.tokens, inbox.now);
    this.#list = new DueKeyList(inbox, (key, atMs, nowMs) => {
      const isRechecked = (this.#turns.find(key)?.recheckMs ?? 0) > 0;
      if (!isRechecked) this.#due(key, atMs, nowMs);
    });
    for (const [key, count] of load) this.#turns.at(key).runs = count;
  }

  /** Keys of which something is due that their limits do not let start. */
  get limitedKeys(): number {
    const nowMs = this.#inbox.now();
    let count = 0;
    for (const turn of this.#turns.values()) if (turn.isLimitedAt(nowMs)) count += 1;
    return count;
  }

  /** When a claim may find something; Infinity: not before a call of another method. */
  get nextMs(): number {
    return Math.min(this.#wants.nextTurnMs, this.#list.nextMs);
  }

  /** A delivery of this key is due; undefined: of any. */
  due(key: string | undefined): void {
    const nowMs = this.#inbox.now();
    if (key === undefined) this.#list.want();
    else this.#due(key, nowMs, nowMs);
  }

  /** Other limits apply from now on. */
  retune(): void {
    const nowMs = this.#inbox.now();
    for (const turn of this.#turns.values()) {
      turn.askedAtMs = -Infinity;
      this.tokens.ask(turn, nowMs);
      this.#turns.review(turn, nowMs);
    }
  }

  /** A delivery of this key was claimed. */
  began(key: string): void {
    this.#turns.at(key).runs += 1;
  }

  /** The deliveries that others may not run beside have ended. So many may follow. */
  resume(count: number): void {
    const nowMs = this.#inbox.now();
    let left = count;
    for (const key of this.#deferred) {
      if (left === 0) return;
      left -= 1;
      this.#deferred.delete(key);
      this.#turns.due(key, nowMs, nowMs);
    }
  }

  /** No delivery runs that others may not run beside. */
  forgetDeferred(): void {
    this.#deferred.clear();
  }

  /**
   * A claimed delivery has ended, in whatever way.
   *
   * @param rate - the limit that its token was taken from, if it was not used.
   */
  ended(key: string, isSuccess: boolean, rate: BucketLimit | undefined): void {
    const nowMs = this.#inbox.now();
    const turn = this.#turns.at(key);
    turn.runs -= 1;
    if (rate !== undefined) this.#giveBack(turn, 1, rate);
    // It may be due again, or the next one of an ordered key is.
    if (!isSuccess || this.#inbox.fixtures.isOrdered === true) this.#turns.due(key, nowMs, nowMs);
    this.#turns.review(turn, nowMs);
  }

  /** A handler asked to wait. Returns whether all of its key waits. */
  hold(key: string, forMs: number): boolean {
    const nowMs = this.#inbox.now();
    const turn = this.#turns.at(key);
    const { isHeldOnRetryAfter, rate } = turn.limit;
    if (!isHeldOnRetryAfter) return false;
    turn.heldUntilMs = Math.max(turn.heldUntilMs, nowMs + forMs);
    if (rate !== undefined) this.tokens.pause(key, forMs, rate);
    return true;
  }

  isHeld(key: string): boolean {
    return (this.#turns.find(key)?.heldUntilMs ?? -Infinity) > this.#inbox.now();
  }

  /** Claims once. Returns false when nothing can be claimed now. */
  async claim(room: ClaimRoom): Promise<boolean> {
    const isListed = this.#list.nextMs <= this.#inbox.now();
    if (isListed) await this.#list.readPage();
    this.#free = room.count;
    const wants = this.#wants.next(room);
    if (wants.length === 0) return isListed && this.nextMs <= this.#inbox.now();
    try {
      await this.#takeTokens(wants);
      await this.#claim(
        wants.filter(({ count }) => count > 0),
        room.suspects,
      );
    } finally {
      const nowMs = this.#inbox.now();
      for (const { turn } of wants) {
        turn.isBusy = false;
        if (turn.left > 0 && turn.startMs <= nowMs) this.#turns.putBack(turn);
        else {
          turn.left = 0;
          this.#turns.review(turn, nowMs);
        }
      }
    }
    return true;
  }

  /** Its priority must be known before its turn. */
  #due(key: string, atMs: number, nowMs: number): void {
    const turn = this.#turns.at(key);
    this.tokens.ask(turn, nowMs);
    this.#turns.due(key, atMs, nowMs);
    // Its priority may be another one.
    this.#turns.review(turn, nowMs);
  }

  /** Takes the tokens of all wants, and reduces their counts to those that there are. */
  async #takeTokens(wants: readonly Want[]): Promise<void> {
    const pending: PromiseLike<void>[] = [];
    for (const want of wants) {
      const { turn, rate, count } = want;
      if (rate === undefined) continue;
      const taken = this.tokens.take(turn, count, rate);
      const set = (got: number): void => {
        want.count = got;
      };
      if (isThenable(taken)) pending.push(taken.then(set));
      else set(taken);
    }
    await Promise.all(pending);
  }

  #giveBack(turn: Turn, count: number, rate: BucketLimit): void {
    if (count === 0) return;
    turn.tokenAtMs = -Infinity;
    this.tokens.giveBack(turn.key, count, rate);
  }

  async #claim(wants: readonly Want[], suspects: SuspectRoom): Promise<void> {
    const newest = wants.filter(({ turn, count }) => turn.takesNewest(count));
    const earliest = wants.filter((want) => !newest.includes(want));
    // One after another: a store may take the claims of a call without an answer back when it gets the next one. Each call
    // gives its tokens back when it fails, so the second one is made in any case.
    const errors: unknown[] = [];
    for (const [some, isNewestFirst] of [[earliest, false] as const, [newest, true] as const]) {
      try {
        await this.#claimSome(some, isNewestFirst, suspects);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  async #claimSome(wants: readonly Want[], isNewestFirst: boolean, suspects: SuspectRoom): Promise<void> {
    if (wants.length === 0) return;
    const { store, health, wall } = this.#inbox;
    const nowMs = wall.trustedMs();
    const isOrdered = this.#inbox.fixtures.isOrdered === true;
    let results: readonly KeyClaim[];
    try {
      results = await store.claimKeys(
        wants.map(({ turn: { key, limit }, count }) => {
          const { maxConcurrent } = limit;
          const maxHeld = maxConcurrent === Infinity || isOrdered ? undefined : maxConcurrent;
          return { key, count, isHeadOnly: false, maxHeld };
        }),
        { leaseMs: LEASE_MS, nowMs, isNewestFirst, ...suspects },
      );
      if (results.length !== wants.length) throw new Error('The store must return one result for each key.');
    } catch (error) {
      for (const { turn, count, rate } of wants) if (rate !== undefined) this.#giveBack(turn, count, rate);
      throw error;
    }
    health.worked();
    const runs = await Promise.all(
      wants.map((want, at) => this.#claimed(want, results[at] as KeyClaim, isNewestFirst)),
    );
    await this.#start(runs.flat());
  }

  async #claimed(
    { turn, count, rate }: Want,
    { claimed, nextDueMs }: KeyClaim,
    isNewestFirst: boolean,
  ): Promise<readonly HandlerRun[]> {
    const { now, wall } = this.#inbox;
    const nowMs = now();
    const inMs = nextDueMs === undefined ? Infinity : nextDueMs - wall.trustedMs();
    const isShort = claimed.length < count;
    turn.noteFresh(count, claimed.length, isNewestFirst);
    if (!isNewestFirst || !isShort) turn.useful = isShort ? claimed.length : Math.max(turn.useful, 2 * count);
    // Without new deliveries, its turn goes on with the others.
    turn.left = isShort && !isNewestFirst ? 0 : Math.max(0, turn.left - claimed.length);
    this.#wants.shares.started(turn.limit.rank, claimed.length);
    turn.dueMs = turn.isOutdated ? nowMs : nowMs + Math.max(0, inMs);
    if (claimed.length > 0 || inMs > 0) {
      if (turn.recheckMs > 0) this.#rechecked -= 1;
      turn.recheckMs = 0;
      this.#deferred.delete(turn.key);
    } else if (!isNewestFirst) {
      if (turn.recheckMs === 0) this.#rechecked += 1;
      this.#deferred.add(turn.key);
      const laterMs = Math.min(MAX_RECHECK_MS, 2 * turn.recheckMs);
      const roundMs = (RECHECK_EVERY_MS * this.#rechecked) / this.#free;
      turn.recheckMs = Math.max(FIRST_RECHECK_MS, laterMs, roundMs);
      const recheckAtMs = Math.ceil((nowMs + turn.recheckMs) / RECHECK_EVERY_MS) * RECHECK_EVERY_MS;
      if (!turn.isOutdated) turn.dueMs = recheckAtMs;
    }
    let startable = claimed.length;
    if (rate !== undefined) {
      this.#giveBack(turn, count - startable, rate);
      const usable = startable === 0 ? 0 : this.tokens.use(turn.key, startable, rate);
      startable = isThenable(usable) ? await usable : usable;
      if (startable < claimed.length) turn.tokenAtMs = now() + MIN_WAIT_MS;
    }
    return claimed.flatMap(
      (one, at) =>
        this.#begin(one, { rate: at < startable ? rate : undefined, mayStart: at < startable }) ?? [],
    );
  }
}

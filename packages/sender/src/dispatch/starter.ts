import type { Awaitable, InboxStore, KeyClaim } from '@webhook-backpressure/inbox';
import { isThenable } from '@webhook-backpressure/base';
import type { StoreHealth } from '@webhook-backpressure/inbox/store';
import type { Buckets } from '../buckets/buckets.ts';
import { Batching } from '../batches/batching.ts';
import { bytesInBatch } from '../outbox/request-content.ts';
import type { Parcel } from './attempt.ts';
import type { Attempts } from './attempts.ts';
import { Claim } from './claim.ts';
import type { Want } from './claiming.ts';
import type { Destination, Learned } from './destination.ts';
import type { Disabling } from './disabling.ts';
import type { Pauses } from './pauses.ts';
import { roomOf } from './room.ts';
import type { Settling } from './settling.ts';

/** The delay of the next try when due events cannot be claimed because another process blocks them. */
const RECHECK_MS = 250;

/** How often the retries of a disabled endpoint are made due: other processes may have added some. */
const HASTEN_MS = 60_000;
/** Retries of one call. */
const HASTEN_COUNT = 1000;

const DEAD_REASONS = {
  gone: 'The endpoint is disabled: it answered 410.',
  failing: 'The endpoint is disabled: it has been failing for too long.',
  unknown: 'There is no such endpoint.',
} as const;

export interface StarterParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly buckets: Buckets;
  readonly pauses: Pauses;
  readonly disabling: Disabling;
  readonly settling: Settling;
  readonly attempts: Attempts;
  /** Reads which endpoints are disabled. Rejects with what the store throws. */
  readonly readDisabled: () => Promise<void>;
  /** Whether requests may start. */
  readonly isOpen: () => boolean;
  /** An event of a disabled endpoint, or of one that does not exist. */
  readonly refused: (claim: Claim, error: string) => void;
  /** The endpoint can be placed in the calendar again. */
  readonly done: (destination: Destination) => void;
}

/** Starts requests for claimed events, and gives back the unused rest: tokens without an event, events without room. */
export class Starter {
  readonly #parts: StarterParts;

  constructor(parts: StarterParts) {
    this.#parts = parts;
  }

  /** Events were claimed. Also called while closing, when they are given back. */
  claimed(want: Want, { claimed, nextDueMs }: KeyClaim): void {
    const { now, settling } = this.#parts;
    const { destination } = want;
    const claims = claimed.map((event) => new Claim(destination, event));
    for (const claim of claims) settling.hold(claim);
    destination.lastClaimed = claims.length;
    destination.oldestReceivedAtMs = claimed[0]?.receivedAtMs ?? destination.oldestReceivedAtMs;
    destination.dueMs = destination.isOutdated ? now() : this.#atMs(nextDueMs, claims.length > 0);
    this.#gathered(destination, claims);
    const usable = this.#usableOf(want);
    if (!isThenable(usable)) {
      this.#proceed(want, claims, usable);
      return;
    }
    usable.then(
      (tokens) => {
        this.#proceed(want, claims, tokens);
      },
      () => {
        this.#proceed(want, claims, 0);
      },
    );
  }

  /** A slow store lets tokens age. */
  #usableOf({ destination: { id }, tokens, limit }: Want): Awaitable<number> {
    const { buckets } = this.#parts;
    return limit === undefined ? 0 : (buckets.use?.(id, tokens, limit) ?? tokens);
  }

  #proceed(want: Want, claims: readonly Claim[], tokens: number): void {
    const { destination, limit } = want;
    if (limit === undefined) {
      void this.#end(want, claims);
      return;
    }
    this.#start({ ...want, tokens }, claims);
    destination.isAsking = false;
    this.#parts.done(destination);
  }

  /** Ends the events of an endpoint that is disabled or does not exist, and then makes its retries due. */
  async #end({ destination, count }: Want, claims: readonly Claim[]): Promise<void> {
    const { now, done } = this.#parts;
    if (await this.#isRefused(destination, claims)) {
      this.#refuse(destination, claims);
      if (claims.length < count && destination.hastenAtMs <= now()) await this.#hasten(destination);
    } else this.#release(claims);
    destination.isAsking = false;
    done(destination);
  }

  /**
   * Another process may have enabled the endpoint and put its events back. Events that were put back are not refused, so
   * this is read after the claim.
   */
  async #isRefused({ id }: Destination, claims: readonly Claim[]): Promise<boolean> {
    const { disabling, readDisabled, health } = this.#parts;
    // There is no such endpoint.
    if (disabling.reasonOf(id) === undefined || claims.length === 0) return true;
    try {
      await readDisabled();
      return disabling.reasonOf(id) !== undefined;
    } catch (error) {
      health.failed('stats', error);
      return false;
    }
  }

  /** Some retries of a disabled endpoint would wait for a day. */
  async #hasten(destination: Destination): Promise<void> {
    const { store, health, now, wallMs } = this.#parts;
    const nowMs = wallMs();
    let count = 0;
    try {
      count = await store.hasten({ key: destination.id, afterMs: nowMs, nowMs, limit: HASTEN_COUNT });
      health.worked();
    } catch (error) {
      health.failed('hasten', error);
    }
    if (count > 0) destination.dueMs = now();
    // With as many there may be more.
    destination.hastenAtMs = count < HASTEN_COUNT ? now() + HASTEN_MS : now();
  }

  /** The claim failed: the events are as due as before. */
  failed({ destination, tokens, limit }: Want): void {
    const { buckets, done } = this.#parts;
    if (limit !== undefined) buckets.giveBack(destination.id, tokens, limit);
    destination.isAsking = false;
    done(destination);
  }

  #refuse({ id }: Destination, claims: readonly Claim[]): void {
    const { disabling, refused } = this.#parts;
    const error = DEAD_REASONS[disabling.reasonOf(id) ?? 'unknown'];
    for (const claim of claims) refused(claim, error);
  }

  #start({ destination, tokens, limit }: Want, claims: readonly Claim[]): void {
    const { attempts, buckets } = this.#parts;
    const { learned } = destination;
    if (learned === undefined || limit === undefined) {
      this.#release(claims);
      return;
    }
    let started = 0;
    for (const parcel of this.#parcelsOf(destination, learned, claims)) {
      // The endpoint may have asked to wait in the meantime.
      if (started < tokens && this.#mayStart(destination, learned)) {
        attempts.start(destination, learned, parcel);
        started += 1;
      } else {
        learned.batching?.giveBack(parcel);
        this.#release(parcel.claims);
      }
    }
    if (started < tokens) buckets.giveBack(destination.id, tokens - started, limit);
  }

  /** The requests of claimed events, in order. */
  #parcelsOf(destination: Destination, learned: Learned, claims: readonly Claim[]): readonly Parcel[] {
    const { batch } = learned.settings;
    if (batch === undefined)
      return claims.map((claim) => ({
        id: claim.ref.id,
        claims: [claim],
        isBatch: false,
        isRepeated: false,
      }));
    learned.batching ??= new Batching();
    const isAll = destination.dueMs > this.#parts.now();
    const { batches, rest } = learned.batching.compose(claims, batch, isAll);
    this.#release(rest);
    return batches;
  }

  #gathered({ gathering, dueMs }: Destination, claims: readonly Claim[]): void {
    if (gathering === undefined) return;
    const bytes = claims.reduce((sum, { event }) => sum + bytesInBatch(event), 0);
    const nowMs = this.#parts.now();
    gathering.claimed(claims.length, bytes, dueMs > nowMs, nowMs);
  }

  #release(claims: readonly Claim[]): void {
    for (const claim of claims) void this.#parts.settling.settle(claim, { as: 'released', retryInMs: 0 });
  }

  #mayStart(destination: Destination, learned: Learned): boolean {
    const { now, buckets, pauses, disabling, isOpen } = this.#parts;
    const { id } = destination;
    if (!isOpen() || pauses.has(id) || disabling.reasonOf(id) !== undefined) return false;
    const nowMs = now();
    const { pace, health } = learned;
    if (pace.waitUntilMs > nowMs || (health.isFailing && health.probeAtMs > nowMs)) return false;
    return roomOf(destination, learned, buckets.processes, true) > 0;
  }

  /** Converts a due time to the monotonic clock. */
  #atMs(dueMs: number | undefined, isProgress: boolean): number {
    if (dueMs === undefined) return Infinity;
    const { now, wallMs } = this.#parts;
    const inMs = dueMs - wallMs();
    return now() + (inMs > 0 ? inMs : isProgress ? 0 : RECHECK_MS);
  }
}

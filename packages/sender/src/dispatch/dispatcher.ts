import type { BucketLimit, TokenGrant } from '@webhook-backpressure/fleet';
import type { KeyClaim, KeyWant, StoredDelivery } from '@webhook-backpressure/inbox';
import { inBackground, isThenable } from '@webhook-backpressure/base';
import { LEASE_MS, nextTurn } from '@webhook-backpressure/inbox/store';
import { Batching, Gathering } from '../batches/batching.ts';
import type { EndpointDirectory } from '../endpoints/directory.ts';
import { fairPlaces } from '../outbox/fair-share.ts';
import type { SenderContext } from '../outbox/sender-context.ts';
import { bytesInBatch } from '../requests/request-content.ts';
import type { Requester } from '../requests/request.ts';
import { Attempts, type Parcel } from './attempts.ts';
import { Calendar } from './calendar.ts';
import { Destinations, type Destination, type Learned } from './destinations.ts';
import { Outcomes } from './outcomes.ts';
import { Settling, type Claim } from './settling.ts';
import type { Stops } from './stops.ts';

/** Requests in flight to all endpoints: each takes a socket and the memory of its event. */
const MAX_IN_FLIGHT = 10_000;
/**
 * Requests that are about to start. All of one claim start together, and a connection takes up to half a millisecond to
 * open: with more of them, answers would be late. Also the endpoints of one turn of the event loop.
 */
const MAX_STARTING = 128;
/** Endpoints of one call of the store. */
const MAX_WANTS = 1000;
/** Events of a disabled endpoint that are moved to the dead-letter queue in one call. */
const DEAD_COUNT = 100;
/** The delay of the next try when another process blocks due events, or when buckets reject, although they should not. */
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

/** The tokens that were taken for the requests of an endpoint. */
interface Grant {
  readonly learned: Learned;
  readonly tokens: number;
  /** The limit that they were taken from. */
  readonly limit: BucketLimit;
}

/** The claim that is made for an endpoint. */
interface Want {
  readonly destination: Destination;
  readonly count: number;
  /** Undefined: its events are moved to the dead-letter queue. */
  readonly grant: Grant | undefined;
}

/**
 * Starts attempts: takes the endpoints that are due from the calendar, takes tokens for each, claims as many events of all of
 * them in one call, and starts their requests. So an endpoint that is slow or paused holds no claim, and costs the others
 * nothing.
 */
export class Dispatcher {
  readonly destinations: Destinations;
  readonly settling: Settling;
  readonly attempts: Attempts;
  readonly #context: SenderContext;
  readonly #stops: Stops;
  readonly #directory: EndpointDirectory;
  readonly #outcomes: Outcomes;
  readonly #calendar: Calendar;
  #isWanted = false;
  #isRunning = false;
  /** Whether endpoints wait for the end of any request. */
  #isCrowded = false;
  /** The next claims. They gather during a call of the store. */
  #wants: Want[] = [];
  #claiming: Promise<void> | undefined;
  /** Tokens that are asked for, or whose events are not claimed yet. */
  #tokens = 0;

  /** @param relieved - called when an event is finished. */
  constructor(
    context: SenderContext,
    stops: Stops,
    directory: EndpointDirectory,
    requester: Requester,
    relieved: (id: string) => void,
  ) {
    this.#context = context;
    this.#stops = stops;
    this.#directory = directory;
    this.destinations = new Destinations(context);
    this.settling = new Settling(context, this.review, relieved);
    this.#outcomes = new Outcomes(context, stops, this.settling, this.review);
    this.attempts = new Attempts(context, requester, this.#outcomes);
    this.#calendar = new Calendar(context.scheduler, () => {
      this.#wake();
    });
  }

  /** Call it when the store is open. */
  begin(): void {
    this.#wake();
  }

  /** Starts nothing from now on. Call it when the sender is closing. */
  end(): void {
    this.#calendar.clear();
  }

  /** Resolves when no events are being claimed. */
  async idle(): Promise<void> {
    while (this.#claiming !== undefined) await this.#claiming;
  }

  /** Events of an endpoint are due at this time, on the monotonic clock. */
  due(id: string, atMs: number): void {
    this.#due(this.destinations.at(id), atMs);
  }

  /** An event was stored. */
  stored(event: StoredDelivery): void {
    const destination = this.destinations.at(event.key);
    const nowMs = this.#context.now();
    destination.stored += 1;
    const { learned } = destination;
    // Before the settings are known, there may be batches.
    if (learned === undefined || learned.settings.batch !== undefined) {
      destination.gathering ??= new Gathering();
      destination.gathering.stored(bytesInBatch(event), nowMs);
    }
    this.#due(destination, nowMs);
  }

  /** A dead letter was put back. */
  restored(id: string): void {
    const destination = this.destinations.at(id);
    destination.stored += 1;
    this.#due(destination, this.#context.now());
  }

  /** Something about this endpoint, or with null about all, has changed. */
  changed(id: string | null): void {
    const destination = id === null ? undefined : this.destinations.find(id);
    if (destination !== undefined) {
      destination.lacksSettings = false;
      this.review(destination);
    } else if (id === null) {
      for (const one of this.destinations.values()) this.review(one);
    }
  }

  /** Replaces the limit of an endpoint in this process; undefined: by that of its settings. */
  setLimit(id: string, limit: BucketLimit | undefined): void {
    this.destinations.setLimit(id, limit);
    const destination = this.destinations.find(id);
    if (destination !== undefined) this.review(destination);
  }

  /** Places an endpoint in the calendar by its next possible start, or drops it when it has nothing left. */
  readonly review = (destination: Destination): void => {
    if (this.#isCrowded && this.#spare > 0) {
      this.#isCrowded = false;
      this.#wake();
    }
    if (destination.isAsking || this.#context.phase !== 'open') return;
    const nowMs = this.#context.now();
    const atMs = this.#nextMs(destination, nowMs);
    this.#calendar.place(destination, atMs, nowMs);
    if (atMs <= nowMs) this.#wake();
    else if (atMs < Infinity) return;
    else if (destination.dueMs === Infinity && destination.held === 0 && destination.inFlight === 0) {
      // Paused events stay visible.
      if (destination.stored > 0 && this.#stops.isPaused(destination.id)) return;
      this.destinations.retire(destination);
      this.#directory.release(destination.id);
    }
  };

  #due(destination: Destination, atMs: number): void {
    destination.dueMs = Math.min(destination.dueMs, atMs);
    this.review(destination);
  }

  #nextMs(destination: Destination, nowMs: number): number {
    const { id, dueMs, learned, lacksSettings } = destination;
    if (dueMs === Infinity || lacksSettings || this.#stops.isPaused(id)) return Infinity;
    if (this.#stops.shownReasonOf(id) !== undefined) return Math.min(dueMs, destination.hastenAtMs);
    if (learned === undefined) return dueMs;
    return destination.nextStartMs(learned, this.#context.buckets.processes, nowMs);
  }

  /** Places in flight that no request has or is about to have. */
  get #free(): number {
    return MAX_IN_FLIGHT - this.attempts.running.size - this.#tokens;
  }

  /** Requests that may start to any endpoint. */
  get #spare(): number {
    return Math.min(this.#free, MAX_STARTING - this.#tokens);
  }

  #wake(): void {
    this.#isWanted = true;
    if (!this.#isRunning) inBackground(this.#run());
  }

  async #run(): Promise<void> {
    const { health } = this.#context;
    this.#isRunning = true;
    while (this.#isWanted) {
      await nextTurn();
      if (health.isResting) await health.rest();
      this.#isWanted = false;
      if (this.#context.phase === 'open') this.#turn();
    }
    this.#isRunning = false;
  }

  /** Endpoints that are due share a turn equally: a newcomer waits for a few requests of each other one, not for a burst. */
  #turn(): void {
    const nowMs = this.#context.now();
    const spare = this.#spare;
    if (spare <= 0) {
      this.#isCrowded = true;
      return;
    }
    const due = this.#calendar.take(spare, nowMs);
    this.#isWanted ||= due.length === spare;
    const most = Math.floor(spare / due.length);
    for (const one of due) this.#consider(one, most, nowMs);
    this.#calendar.setTimer(nowMs);
  }

  /** Takes up to `most` tokens for an endpoint that is due. */
  #consider(destination: Destination, most: number, nowMs: number): void {
    const { buckets } = this.#context;
    const { id } = destination;
    if (this.#stops.isPaused(id)) return;
    if (this.#stops.reasonOf(id) === undefined) {
      const settings = this.#directory.get(id);
      if (settings === undefined) {
        destination.lacksSettings = true;
        return;
      }
      this.#stops.noteUnknown(id, settings === null);
      if (settings !== null) {
        const learned = this.destinations.adjust(destination, settings);
        if (destination.nextStartMs(learned, buckets.processes, nowMs) > nowMs) {
          this.review(destination);
          return;
        }
        const useful = Math.min(most, this.#useful(destination, learned, nowMs));
        // It has its share of the places in flight. When one of its requests has ended, it is considered again.
        if (useful <= 0) return;
        destination.isAsking = true;
        const { limit } = learned.pace;
        const grant = buckets.take(id, useful, limit);
        if (isThenable(grant)) {
          this.#tokens += useful;
          inBackground(this.#awaitGrant(destination, learned, limit, grant, useful));
        } else this.#granted(destination, learned, limit, grant);
        return;
      }
    }
    this.#claim({ destination, count: DEAD_COUNT, grant: undefined });
  }

  /** Tokens to ask for: not many more than there are events, because shared buckets lack them until they are given back. */
  #useful(destination: Destination, learned: Learned, nowMs: number): number {
    const { queued, lastClaimed, gathering } = destination;
    const { batch } = learned.settings;
    let useful = Math.max(queued, 2 * lastClaimed, 1);
    if (batch !== undefined)
      useful = gathering?.requests(batch, nowMs) ?? Math.ceil(useful / batch.maxEvents);
    const room = destination.room(learned, this.#context.buckets.processes);
    const fair = fairPlaces(destination.inFlight, this.#free, MAX_IN_FLIGHT, this.destinations.size);
    return Math.min(room, fair, useful);
  }

  async #awaitGrant(
    destination: Destination,
    learned: Learned,
    limit: BucketLimit,
    grant: PromiseLike<TokenGrant>,
    asked: number,
  ): Promise<void> {
    const rejected = { taken: 0, waitMs: RECHECK_MS };
    const granted = await grant.then(undefined, () => rejected);
    this.#tokens -= asked;
    this.#granted(destination, learned, limit, granted);
  }

  #granted(
    destination: Destination,
    learned: Learned,
    limit: BucketLimit,
    { taken: tokens, waitMs }: TokenGrant,
  ): void {
    if (tokens > 0 && this.#context.phase === 'open') {
      const count = tokens * (learned.settings.batch?.maxEvents ?? 1);
      this.#claim({ destination, count, grant: { learned, tokens, limit } });
      return;
    }
    if (tokens > 0) this.#context.buckets.giveBack(destination.id, tokens, limit);
    destination.tokenAtMs = this.#context.now() + waitMs;
    this.#done(destination);
  }

  #done(destination: Destination): void {
    destination.isAsking = false;
    this.review(destination);
  }

  #claim(want: Want): void {
    want.destination.isAsking = true;
    // What becomes due from now on, the answer may lack.
    want.destination.dueMs = Infinity;
    this.#tokens += want.grant?.tokens ?? 0;
    this.#wants.push(want);
    this.#claiming ??= this.#claimAll();
  }

  /** Claims in one call for all endpoints that got tokens, and one call at a time, during which the next wants gather. */
  async #claimAll(): Promise<void> {
    const { store, health, buckets, now, wallMs } = this.#context;
    // The other endpoints of this turn are added before.
    await Promise.resolve();
    while (this.#wants.length > 0) {
      const wants = this.#wants.splice(0, MAX_WANTS);
      let results: readonly KeyClaim[];
      try {
        const keys: KeyWant[] = [];
        for (const { destination, count, grant } of wants)
          keys.push({ key: destination.id, count, isHeadOnly: grant?.learned.settings.isOrdered === true });
        results = await store.claimKeys(keys, { leaseMs: LEASE_MS, nowMs: wallMs() });
        if (results.length !== wants.length)
          throw new Error('The store must return one result for each key.');
        health.worked();
      } catch (error) {
        // Nothing was claimed, or the leases run out.
        health.failed('claim', error);
        results = [];
      }
      for (const [at, want] of wants.entries()) {
        const { destination, grant } = want;
        const result = results[at];
        this.#tokens -= grant?.tokens ?? 0;
        if (result !== undefined) {
          this.#claimed(want, result);
          continue;
        }
        if (grant !== undefined) buckets.giveBack(destination.id, grant.tokens, grant.limit);
        destination.dueMs = now();
        this.#done(destination);
      }
    }
    this.#claiming = undefined;
  }

  /** Events were claimed. Also called while closing, when they are given back. */
  #claimed({ destination, count, grant }: Want, { claimed, nextDueMs }: KeyClaim): void {
    const { now, wallMs, buckets } = this.#context;
    const nowMs = now();
    const claims = this.settling.hold(destination, claimed);
    destination.lastClaimed = claims.length;
    destination.oldestReceivedAtMs = claimed[0]?.receivedAtMs ?? destination.oldestReceivedAtMs;
    const inMs = nextDueMs === undefined ? Infinity : nextDueMs - wallMs();
    const dueMs = nowMs + (inMs > 0 ? inMs : claims.length > 0 ? 0 : RECHECK_MS);
    destination.dueMs = Math.min(destination.dueMs, dueMs);
    if (destination.gathering !== undefined) {
      const bytes = claimed.reduce((sum, event) => sum + bytesInBatch(event), 0);
      destination.gathering.claimed(claims.length, bytes, destination.dueMs > nowMs, nowMs);
    }
    if (grant === undefined) {
      inBackground(this.#bury(destination, claims, count));
      return;
    }
    // A slow store lets tokens age.
    const usable = buckets.use?.(destination.id, grant.tokens, grant.limit) ?? grant.tokens;
    if (isThenable(usable)) inBackground(this.#startLater(destination, grant, claims, usable));
    else this.#start(destination, grant, claims, usable);
  }

  async #startLater(
    destination: Destination,
    grant: Grant,
    claims: readonly Claim[],
    usable: PromiseLike<number>,
  ): Promise<void> {
    this.#start(destination, grant, claims, await usable.then(undefined, () => 0));
  }

  /** Starts requests, and gives back the unused rest: tokens without an event, events without room. */
  #start(
    destination: Destination,
    { learned, limit }: Grant,
    claims: readonly Claim[],
    tokens: number,
  ): void {
    let started = 0;
    for (const parcel of this.#parcelsOf(destination, learned, claims)) {
      // The endpoint may have asked to wait in the meantime.
      if (started < tokens && this.#mayStart(destination, learned)) {
        this.attempts.start(destination, learned, parcel);
        started += 1;
      } else {
        learned.batching?.giveBack(parcel);
        this.settling.release(parcel.claims);
      }
    }
    if (started < tokens) this.#context.buckets.giveBack(destination.id, tokens - started, limit);
    this.#done(destination);
  }

  /** The requests of claimed events, in order. */
  #parcelsOf(destination: Destination, learned: Learned, claims: readonly Claim[]): readonly Parcel[] {
    const { batch } = learned.settings;
    if (batch === undefined) {
      return claims.map((claim) => {
        return { id: claim.ref.id, claims: [claim], isBatch: false, isRepeated: false };
      });
    }
    learned.batching ??= new Batching();
    const isAll = destination.dueMs > this.#context.now();
    const { batches, rest } = learned.batching.compose(claims, batch, isAll);
    this.settling.release(rest);
    return batches;
  }

  #mayStart(destination: Destination, learned: Learned): boolean {
    const { now, phase, buckets } = this.#context;
    const { id } = destination;
    const { pace, health } = learned;
    if (phase !== 'open' || this.#stops.isPaused(id) || this.#stops.reasonOf(id) !== undefined) return false;
    if (Math.max(pace.waitUntilMs, health.probeAtMs) > now()) return false;
    return destination.room(learned, buckets.processes, true) > 0;
  }

  /** Ends the events of an endpoint that is disabled or does not exist, and then makes its retries due. */
  async #bury(destination: Destination, claims: readonly Claim[], count: number): Promise<void> {
    const { id } = destination;
    if (await this.#isStillDisabled(id, claims)) {
      const error = DEAD_REASONS[this.#stops.reasonOf(id) ?? 'unknown'];
      for (const claim of claims) inBackground(this.#outcomes.refused(claim, error));
      const isAll = claims.length < count;
      if (isAll && destination.hastenAtMs <= this.#context.now()) await this.#hasten(destination);
    } else this.settling.release(claims);
    this.#done(destination);
  }

  /**
   * Another process may have enabled the endpoint and put its events back. Events that were put back are not refused, so
   * this is read after the claim.
   */
  async #isStillDisabled(id: string, claims: readonly Claim[]): Promise<boolean> {
    const { store, health } = this.#context;
    // There is no such endpoint.
    if (this.#stops.reasonOf(id) === undefined || claims.length === 0) return true;
    try {
      const { pausedKeys, isPaused } = await store.stats();
      this.#stops.learn(pausedKeys, isPaused);
      return this.#stops.reasonOf(id) !== undefined;
    } catch (error) {
      health.failed('stats', error);
      return false;
    }
  }

  /** Some retries of a disabled endpoint would wait for a day. */
  async #hasten(destination: Destination): Promise<void> {
    const { store, health, now, wallMs } = this.#context;
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
}

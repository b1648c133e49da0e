import type { StoredDelivery } from '@webhook-backpressure/inbox';
import { isThenable } from '@webhook-backpressure/base';
import { nextTurn, type Scheduler, type StoreHealth } from '@webhook-backpressure/inbox/store';
import { Gathering } from '../batches/gathering.ts';
import { bytesInBatch } from '../outbox/request-content.ts';
import type { Buckets, TokenGrant } from '../buckets/buckets.ts';
import type { EndpointSettings } from '../options/settings.ts';
import type { Attempts } from './attempts.ts';
import { Calendar } from './calendar.ts';
import type { Claiming, Want } from './claiming.ts';
import type { Destination, Learned } from './destination.ts';
import type { Destinations } from './destinations.ts';
import type { Disabling } from './disabling.ts';
import type { Learning } from './learning.ts';
import type { Pauses } from './pauses.ts';
import { nextStartMs, roomOf } from './room.ts';

/** Requests in flight to all endpoints: each takes a socket and the memory of its event. */
const MOST_IN_FLIGHT = 10_000;
/** Endpoints of one turn of the event loop: a turn with more would delay answers. */
const MOST_PER_TURN = 1000;
/** Events of a disabled endpoint that are moved to the dead-letter queue in one call. */
const DEAD_COUNT = 100;
/** The delay of the next try when the buckets reject, although they never should. */
const RECHECK_MS = 250;

export interface DispatcherParts {
  readonly scheduler: Scheduler;
  readonly health: StoreHealth;
  readonly now: () => number;
  readonly buckets: Buckets;
  readonly destinations: Destinations;
  readonly pauses: Pauses;
  readonly disabling: Disabling;
  readonly learning: Learning;
  readonly attempts: () => Attempts;
  readonly claiming: () => Claiming;
  /** Undefined: not known yet. Null: there is no such endpoint. */
  readonly settingsOf: (id: string) => EndpointSettings | null | undefined;
  /** An endpoint has no events left. */
  readonly retired: (id: string) => void;
}

/**
 * Starts attempts: takes the endpoints that are due from the calendar, takes tokens for each, then claims as many events of
 * all of them in one call. So an endpoint that is slow or paused holds no claim, and costs the others nothing.
 */
export class Dispatcher {
  readonly calendar: Calendar;
  readonly #parts: DispatcherParts;
  #isOpen = false;
  #isWanted = false;
  #isRunning = false;
  /** Whether endpoints wait for the end of any request. */
  #isCrowded = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.calendar = new Calendar(parts.scheduler, () => {
      this.#wake();
    });
  }

  /** Call it when the store is open. */
  begin(): void {
    this.#isOpen = true;
    this.#wake();
  }

  /** Starts nothing from now on. */
  end(): void {
    this.#isOpen = false;
    this.calendar.end();
  }

  /** Events of an endpoint are due at this time, on the monotonic clock. */
  due(id: string, atMs: number): void {
    const destination = this.#parts.destinations.at(id);
    destination.dueMs = Math.min(destination.dueMs, atMs);
    if (destination.isAsking) destination.isOutdated = true;
    this.review(destination);
  }

  /** An event was stored. */
  stored(event: StoredDelivery): void {
    const { destinations, now } = this.#parts;
    const destination = destinations.at(event.key);
    const nowMs = now();
    destination.stored += 1;
    const { learned } = destination;
    // Before the settings are known, there may be batches.
    if (learned === undefined || learned.settings.batch !== undefined) {
      destination.gathering ??= new Gathering();
      destination.gathering.stored(bytesInBatch(event), nowMs);
    }
    this.due(event.key, nowMs);
  }

  /** A dead letter was put back. */
  restored(id: string): void {
    const { destinations, now } = this.#parts;
    destinations.at(id).stored += 1;
    this.due(id, now());
  }

  /** Something about an endpoint has changed. */
  changed(id: string): void {
    const destination = this.#parts.destinations.find(id);
    if (destination === undefined) return;
    destination.lacksSettings = false;
    this.review(destination);
  }

  /** An operator has replaced the rate of an endpoint. */
  rateChanged(id: string): void {
    const destination = this.#parts.destinations.find(id);
    if (destination?.learned === undefined) return;
    this.#parts.learning.of(destination, destination.learned.settings);
    this.review(destination);
  }

  /** Something about all endpoints has changed. */
  changedAll(): void {
    for (const destination of this.#parts.destinations.values()) this.review(destination);
  }

  /** Places an endpoint in the calendar by its next possible start, or drops it when it has nothing left. */
  readonly review = (destination: Destination): void => {
    if (this.#isCrowded && this.#spare > 0) {
      this.#isCrowded = false;
      this.#wake();
    }
    if (destination.isAsking || !this.#isOpen) return;
    const { now, destinations, pauses } = this.#parts;
    const nowMs = now();
    const atMs = this.#nextMs(destination, nowMs);
    this.calendar.set(destination, atMs);
    if (atMs <= nowMs) this.#wake();
    else if (atMs < Infinity) this.calendar.wind();
    else if (destination.dueMs === Infinity && destination.held === 0 && destination.inFlight === 0) {
      // Paused events stay visible.
      if (destination.stored > 0 && pauses.has(destination.id)) return;
      destinations.retire(destination);
      this.#parts.retired(destination.id);
    }
  };

  #nextMs(destination: Destination, nowMs: number): number {
    const { pauses, disabling, buckets } = this.#parts;
    const { id, dueMs, learned, lacksSettings } = destination;
    if (dueMs === Infinity || lacksSettings || pauses.has(id)) return Infinity;
    if (disabling.shownReasonOf(id) !== undefined) return Math.min(dueMs, destination.hastenAtMs);
    if (learned === undefined) return dueMs;
    return nextStartMs(destination, learned, buckets.processes, nowMs);
  }

  /** Requests that may start to any endpoint. */
  get #spare(): number {
    const { attempts, claiming } = this.#parts;
    return MOST_IN_FLIGHT - attempts().count - claiming().tokens;
  }

  #wake(): void {
    this.#isWanted = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { health } = this.#parts;
    this.#isRunning = true;
    while (this.#isWanted) {
      await nextTurn();
      if (health.isResting) await health.rest();
      this.#isWanted = false;
      if (this.#isOpen) this.#turn();
    }
    this.#isRunning = false;
  }

  #turn(): void {
    const nowMs = this.#parts.now();
    for (let count = 0; count < MOST_PER_TURN; count += 1) {
      if (this.#spare <= 0) {
        this.#isCrowded = true;
        return;
      }
      const destination = this.calendar.takeDue(nowMs);
      if (destination === undefined) {
        this.calendar.wind();
        return;
      }
      this.#consider(destination, nowMs);
    }
    this.#isWanted = true;
  }

  /** Takes tokens for an endpoint that is due. */
  #consider(destination: Destination, nowMs: number): void {
    const { settingsOf, disabling, learning, buckets, pauses } = this.#parts;
    const { id } = destination;
    if (pauses.has(id)) return;
    if (disabling.reasonOf(id) !== undefined) {
      this.#claim({ destination, count: DEAD_COUNT, isHeadOnly: false, tokens: 0, limit: undefined });
      return;
    }
    const settings = settingsOf(id);
    if (settings === undefined) {
      destination.lacksSettings = true;
      return;
    }
    disabling.noteUnknown(id, settings === null);
    if (settings === null) {
      this.#claim({ destination, count: DEAD_COUNT, isHeadOnly: false, tokens: 0, limit: undefined });
      return;
    }
    const learned = learning.of(destination, settings);
    const atMs = nextStartMs(destination, learned, buckets.processes, nowMs);
    if (atMs > nowMs) {
      this.review(destination);
      return;
    }
    const wanted = this.#wanted(destination, learned);
    const { limit } = learned.pace;
    destination.isAsking = true;
    const grant = buckets.take(id, wanted, limit);
    if (!isThenable(grant)) {
      this.#granted(destination, learned, limit, grant);
      return;
    }
    grant.then(
      (granted) => {
        this.#granted(destination, learned, limit, granted);
      },
      () => {
        this.#granted(destination, learned, limit, { taken: 0, waitMs: RECHECK_MS });
      },
    );
  }

  /** Tokens to ask for: not many more than there are events, because shared buckets lack them until they are given back. */
  #wanted(destination: Destination, learned: Learned): number {
    const { buckets, now } = this.#parts;
    const { queued, lastClaimed, gathering } = destination;
    const { batch } = learned.settings;
    const events = Math.max(queued, 2 * lastClaimed, 1);
    const useful =
      batch === undefined
        ? events
        : (gathering?.requests(batch, now()) ?? Math.ceil(events / batch.maxEvents));
    return Math.min(roomOf(destination, learned, buckets.processes), useful, this.#spare);
  }

  #granted(
    destination: Destination,
    learned: Learned,
    limit: Learned['pace']['limit'],
    { taken, waitMs }: TokenGrant,
  ): void {
    const { now, buckets } = this.#parts;
    const { settings } = learned;
    if (taken > 0 && this.#isOpen) {
      const count = taken * (settings.batch?.maxEvents ?? 1);
      this.#claim({ destination, count, isHeadOnly: settings.isOrdered, tokens: taken, limit });
      return;
    }
    if (taken > 0) buckets.giveBack(destination.id, taken, limit);
    destination.isAsking = false;
    destination.tokenAtMs = now() + waitMs;
    this.review(destination);
  }

  #claim(want: Want): void {
    want.destination.isAsking = true;
    want.destination.isOutdated = false;
    this.#parts.claiming().add(want);
  }
}

import { BackpressureError, show } from '@webhook-backpressure/base';
import type { InboxStore, Put, PutResult, StoredDelivery } from '@webhook-backpressure/inbox';
import {
  GroupCommit,
  type Scheduler,
  storedBytes,
  type StoreHealth,
} from '@webhook-backpressure/inbox/store';
import type { SendResult } from './outgoing-event.ts';
import type { SenderReport } from '../watch/sender-report.ts';
import type { OutboxLevel, OutboxLimits } from './outbox-level.ts';
import { SendQueue } from './send-queue.ts';

/** How often the counts of the store are read while calls wait for room: another process may have made some. */
const RECHECK_MS = 500;

/** Any other result of a store is an error, and never reported as stored. */
const RESULTS: ReadonlySet<unknown> = new Set<PutResult>(['stored', 'duplicate', 'conflict', 'full']);

export interface OutboxParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly level: OutboxLevel;
  readonly report: SenderReport;
  readonly limits: OutboxLimits;
  readonly whenFull: 'wait' | 'refuse';
  readonly wallMs: () => number;
  /** Resolves when the store is open, or the sender closes. */
  readonly opened: Promise<void>;
  /** Whether events are accepted: the sender is opening or open. */
  readonly isAccepting: () => boolean;
  /** Whether the store is open. */
  readonly isOpen: () => boolean;
  /** Whether the store could not be opened so far. */
  readonly isOpenFailing: () => boolean;
  /** Called after an event was stored. */
  readonly stored: (delivery: StoredDelivery) => void;
}

/** Stores events. While it is full, calls wait in order, or are refused. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #puts: GroupCommit<Put, PutResult>;
  readonly #queue = new SendQueue();
  #isFull = false;
  /** Whether the store has refused an event since its counts were last read. */
  #isStoreFull = false;
  #isRechecking = false;

  constructor(parts: OutboxParts) {
    const { store, limits, wallMs } = parts;
    this.#parts = parts;
    // Dead letters are limited where deliveries fail: nothing is stored as an overflow.
    // A store in another thread gets a copy, so there may be nothing else in it.
    const { capacity, maxBytes } = limits;
    const storeLimits = { capacity, maxBytes, maxShelved: Infinity, maxShelvedBytes: Infinity };
    this.#puts = new GroupCommit((batch) => store.put(batch, { limits: storeLimits, nowMs: wallMs() }));
  }

  /** Calls that wait for room. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether there is no room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether events are being stored, so that the counts of the store are not exact. */
  get isStoring(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when no event is being stored. */
  idle(): Promise<void> {
    return this.#puts.idle();
  }

  /** Stores an event. Resolves when it is committed. */
  async put(delivery: StoredDelivery, signal?: AbortSignal): Promise<SendResult> {
    const { isOpen, opened, level, report, stored } = this.#parts;
    signal?.throwIfAborted();
    this.#check();
    if (!isOpen()) await unlessAborted(opened, signal);
    const bytes = storedBytes(delivery);
    const { key: endpoint, id } = delivery;
    for (;;) {
      this.#check();
      // Calls that wait already go first.
      if (this.#queue.size === 0 && !this.#isStoreFull && level.fits(bytes)) level.begin(bytes);
      else await this.#waitForRoom(bytes, signal);
      const result = await this.#commit(delivery, bytes);
      if (result === 'full') {
        // Other processes have used the room that this one saw.
        this.#isStoreFull = true;
        continue;
      }
      if (result === 'stored') {
        report.totals.accepted += 1;
        if (report.hasListeners) report.emit({ type: 'accepted', endpoint, id });
        stored(delivery);
        return { id, status: 'accepted' };
      }
      report.totals.duplicate += 1;
      if (result === 'conflict') report.totals.conflict += 1;
      if (report.hasListeners) report.emit({ type: result, endpoint, id });
      return { id, status: 'duplicate' };
    }
  }

  /** Call it when the level may have fallen. */
  relieve(): void {
    const { level, report } = this.#parts;
    if (!this.#isFull || this.#isStoreFull) return;
    if (this.#queue.size > 0) {
      this.#queue.release((bytes) => {
        if (!level.fits(bytes)) return false;
        // Counted now, so that the next one does not use the same room.
        level.begin(bytes);
        return true;
      });
    }
    if (this.#queue.size > 0 || !level.fits(1)) return;
    this.#isFull = false;
    report.emit({ type: 'accepting', depth: level.depth, bytes: level.bytes });
  }

  /** Rejects all calls that wait for room: the sender accepts no more events. */
  end(): void {
    this.#queue.release((bytes) => {
      this.#parts.level.begin(bytes);
      return true;
    });
  }

  #check(): void {
    const { isAccepting, isOpen, isOpenFailing, health } = this.#parts;
    if (!isAccepting()) throw new BackpressureError('ERR_WBP_SENDER_CLOSED', 'The sender is closed.');
    if (!(isOpen() ? health.isResting : isOpenFailing())) return;
    throw storeError();
  }

  /** Resolves when the event has room, which is counted then. */
  async #waitForRoom(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    const { whenFull, report, level } = this.#parts;
    if (!this.#isFull) {
      this.#isFull = true;
      report.emit({ type: 'full', depth: level.depth, bytes: level.bytes });
    }
    void this.#recheck();
    if (whenFull === 'refuse') {
      report.totals.refused += 1;
      throw new BackpressureError(
        'ERR_WBP_SEND_FULL',
        `The outbox has no room: it contains ${String(level.depth)} events of ${String(level.bytes)} bytes.`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        if (giveUp()) reject(signal?.reason as Error);
      };
      const giveUp = this.#queue.add(bytes, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
    try {
      this.#check();
    } catch (error) {
      level.end(bytes, false);
      throw error;
    }
  }

  /**
   * Reads the counts of the store while there is no room: another process may have made some. Keeps the process alive,
   * because a script may await nothing but `send`.
   */
  async #recheck(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    const { store, health, scheduler, level, isAccepting } = this.#parts;
    while (this.#isFull && isAccepting()) {
      await scheduler.hold(RECHECK_MS);
      if (!isAccepting()) break;
      try {
        const before = level.ownChanges;
        level.adopt(await store.stats(), before);
        this.#isStoreFull = false;
      } catch (error) {
        health.failed('stats', error);
      }
      this.relieve();
    }
    this.#isRechecking = false;
  }

  async #commit(delivery: StoredDelivery, bytes: number): Promise<PutResult> {
    const { health, level } = this.#parts;
    let isStored = false;
    try {
      const put: Put = { delivery, isOverflow: false, isBodyGiven: true };
      const result = await this.#puts.add(put, delivery.rawBody.byteLength);
      if (!RESULTS.has(result)) throw new Error(`The store returned ${show(result)} for a put.`);
      health.worked();
      isStored = result === 'stored';
      return result;
    } catch (error) {
      health.failed('put', error);
      // The store works, and has certainly not stored this event.
      if (error instanceof BackpressureError && error.code === 'ERR_WBP_STORE_VALUE') throw error;
      throw storeError(error);
    } finally {
      level.end(bytes, isStored);
    }
  }
}

/** Rejects with the reason of the signal when it is aborted before. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) {
    await work;
    return;
  }
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort);
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function storeError(cause?: unknown): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_SENDER_STORE',
    'The store did not confirm the event. Whether it is stored is unknown; send it again with the same id.',
    { cause },
  );
}

import { BackpressureError, inBackground, show } from '@webhook-backpressure/base';
import type { Put, PutResult, StoredDelivery } from '@webhook-backpressure/inbox';
import { GroupCommit, storedBytes } from '@webhook-backpressure/inbox/store';
import { Line } from '../endpoints/line.ts';
import type { SendResult } from './outgoing-event.ts';
import type { SenderContext } from './sender-context.ts';

/** How often the counts of the store are read while calls wait for room: another process may have made some. */
const RECHECK_MS = 500;

/** Any other result of a store is an error, and never reported as stored. */
const RESULTS: ReadonlySet<unknown> = new Set<PutResult>(['stored', 'duplicate', 'conflict', 'full']);

/** A call of `send` that waits for room. */
interface WaitingSend {
  readonly bytes: number;
  readonly proceed: () => void;
  /** It has proceeded or given up. */
  isOver: boolean;
}

/** Stores events. While it is full, calls wait in order, or are refused. */
export class Outbox {
  /** Calls that wait for room. */
  waiting = 0;
  /** Whether there is no room. */
  isFull = false;
  readonly #context: SenderContext;
  readonly #opened: Promise<void>;
  readonly #stored: (delivery: StoredDelivery) => void;
  readonly #puts: GroupCommit<Put, PutResult>;
  /** A call that gave up leaves when its turn comes. */
  readonly #queue = new Line<WaitingSend>();
  /** Whether the store has refused an event since its counts were last read. */
  #isStoreFull = false;
  #isRechecking = false;

  /**
   * @param opened - resolves when the store is open, or the sender closes.
   * @param stored - called after an event was stored.
   */
  constructor(context: SenderContext, opened: Promise<void>, stored: (delivery: StoredDelivery) => void) {
    this.#context = context;
    this.#opened = opened;
    this.#stored = stored;
    const { store, settings, wallMs } = context;
    // Dead letters are limited where deliveries fail: nothing is stored as an overflow.
    // A store in another thread gets a copy, so there may be nothing else in it.
    const { capacity, maxBytes } = settings;
    const limits = { capacity, maxBytes, maxDeadLetters: Infinity, maxDeadLetterBytes: Infinity };
    this.#puts = new GroupCommit((batch) => store.put(batch, { limits, nowMs: wallMs() }));
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
    const { level, report } = this.#context;
    signal?.throwIfAborted();
    this.#check();
    if (this.#context.phase === 'opening') await unlessAborted(this.#opened, signal);
    const bytes = storedBytes(delivery);
    const { key: endpoint, id } = delivery;
    for (;;) {
      this.#check();
      // Calls that wait already go first.
      if (this.waiting === 0 && !this.#isStoreFull && level.fits(bytes)) level.begin(bytes);
      else await this.#waitForRoom(bytes, signal);
      const result = await this.#commit(delivery, bytes);
      if (result === 'full') {
        // Other processes have used the room that this one saw.
        this.#isStoreFull = true;
        continue;
      }
      const isNew = result === 'stored';
      report.totals[isNew ? 'accepted' : 'duplicate'] += 1;
      if (result === 'conflict') report.totals.conflict += 1;
      if (report.listeners.any) report.emit({ type: isNew ? 'accepted' : result, endpoint, id });
      if (isNew) this.#stored(delivery);
      return { id, status: isNew ? 'accepted' : 'duplicate' };
    }
  }

  /** Call it when the level may have fallen. */
  relieve(): void {
    const { level, report } = this.#context;
    if (!this.isFull || this.#isStoreFull) return;
    this.#release((bytes) => level.fits(bytes));
    if (this.waiting > 0 || !level.fits(1)) return;
    this.isFull = false;
    report.emit({ type: 'accepting', depth: level.depth, bytes: level.bytes });
  }

  /** Rejects all calls that wait for room: the sender accepts no more events. */
  end(): void {
    this.#release(() => true);
  }

  /** Lets calls proceed, the first ones first. */
  #release(fits: (bytes: number) => boolean): void {
    for (let call = this.#queue.first; call !== undefined; call = this.#queue.first) {
      if (!call.isOver && !fits(call.bytes)) return;
      this.#queue.take();
      if (call.isOver) continue;
      call.isOver = true;
      this.waiting -= 1;
      // Counted now, so that the next one does not use the same room.
      this.#context.level.begin(call.bytes);
      call.proceed();
    }
  }

  #check(): void {
    const { phase, health, sendingHealth } = this.#context;
    if (phase === 'closing' || phase === 'closed')
      throw new BackpressureError('ERR_WBP_SENDER_CLOSED', 'The sender is closed.');
    if (phase === 'open' ? sendingHealth.isResting : !health.isWell) throw storeError();
  }

  /** Resolves when the event has room, which is counted then. */
  async #waitForRoom(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    const { settings, report, level } = this.#context;
    if (!this.isFull) {
      this.isFull = true;
      report.emit({ type: 'full', depth: level.depth, bytes: level.bytes });
    }
    inBackground(this.#recheck());
    if (settings.whenFull === 'refuse') {
      report.totals.refused += 1;
      throw new BackpressureError(
        'ERR_WBP_SEND_FULL',
        `The outbox has no room: it contains ${String(level.depth)} events of ${String(level.bytes)} bytes.`,
      );
    }
    let abort = (): void => undefined;
    try {
      await new Promise<void>((proceed, reject) => {
        const call: WaitingSend = { bytes, proceed, isOver: false };
        abort = () => {
          if (call.isOver) return;
          call.isOver = true;
          this.waiting -= 1;
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', abort);
        this.#queue.push(call);
        this.waiting += 1;
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
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
    const { store, sendingHealth, scheduler, level } = this.#context;
    for (;;) {
      if (!this.isFull || !this.#context.isAccepting) break;
      await scheduler.hold(RECHECK_MS);
      try {
        const before = level.ownChanges;
        level.adopt(await store.stats(), before);
        this.#isStoreFull = false;
      } catch (error) {
        sendingHealth.failed('stats', error);
      }
      this.relieve();
    }
    this.#isRechecking = false;
  }

  async #commit(delivery: StoredDelivery, bytes: number): Promise<PutResult> {
    const { sendingHealth, level } = this.#context;
    let isStored = false;
    try {
      const put: Put = { delivery, isOverflow: false };
      const result = await this.#puts.add(put, delivery.rawBody.byteLength);
      if (!RESULTS.has(result)) throw new Error(`The store returned ${show(result)} for a put.`);
      sendingHealth.worked();
      isStored = result === 'stored';
      return result;
    } catch (error) {
      sendingHealth.failed('put', error);
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

import { BackpressureError, inBackground, isThenable, unlessAborted } from '@webhook-backpressure/base';
import type { Put, PutResult, StoredDelivery, StoreLimits } from '@webhook-backpressure/inbox';
import { checkedPut, GroupCommit, storedBytes } from '@webhook-backpressure/inbox/store';
import { Line } from '../endpoints/line.ts';
import type { Holders } from './holders.ts';
import type { SendResult } from './outgoing-event.ts';
import type { SenderContext } from './sender-context.ts';

/** How often the counts of the store are read while calls wait for room: another process may have made some. */
const RECHECK_MS = 500;

/** How many endpoints with calls that wait are looked at when an event of another one is finished. */
const LOOKS = 16;

/** A call of `send` that waits for room. */
interface WaitingSend {
  readonly bytes: number;
  readonly proceed: () => void;
  /** It has proceeded or given up. */
  isOver: boolean;
}

/**
 * Stores events. While it is full, calls wait, in order for each endpoint, or are refused. An endpoint that holds its share
 * waits alone: those that hold less have room.
 */
export class Outbox {
  /** Calls that wait for room. */
  waiting = 0;
  /** Whether events of any endpoint have no room. */
  isFull = false;
  readonly #context: SenderContext;
  readonly #opened: Promise<void>;
  readonly #holders: Holders;
  readonly #limits: StoreLimits;
  readonly #puts: GroupCommit<Put, PutResult>;
  /** The calls that wait, by endpoint. One that gave up leaves when its turn comes. */
  readonly #lines = new Map<string, Line<WaitingSend>>();
  /** The endpoints whose turn comes next. */
  #turns: Iterator<string> | undefined;
  /** Whether the store has refused an event since its counts were last read. */
  #isStoreFull = false;
  #isRechecking = false;

  /** @param opened - resolves when the store is open, or the sender closes. */
  constructor(context: SenderContext, opened: Promise<void>, holders: Holders) {
    this.#context = context;
    this.#opened = opened;
    this.#holders = holders;
    const { store, settings, wallMs } = context;
    // Dead letters are limited where deliveries fail: nothing is stored as an overflow.
    // A store in another thread gets a copy, so there may be nothing else in it.
    const { capacity, maxBytes } = settings;
    const limits = { capacity, maxBytes, maxDeadLetters: Infinity, maxDeadLetterBytes: Infinity };
    this.#limits = limits;
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
    if (this.#context.phase === 'opening') await unlessAborted(signal, this.#opened);
    const bytes = storedBytes(delivery);
    const { key: endpoint, id } = delivery;
    for (;;) {
      this.#check();
      // Calls of the endpoint that wait already go first.
      const isNext = this.#firstOf(endpoint) === undefined && !this.#isStoreFull;
      if (isNext && this.#fits(endpoint, bytes)) level.begin(endpoint, bytes);
      else await this.#waitForRoom(endpoint, bytes, signal);
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
      if (isNew) this.#holders.stored(delivery);
      return { id, status: isNew ? 'accepted' : 'duplicate' };
    }
  }

  /**
   * Stores an event within a transaction of the application. Not an async function: where the client is synchronous, the
   * event is stored, or the call has thrown, when it returns.
   */
  putIn(client: unknown, delivery: StoredDelivery): Promise<SendResult> {
    const { store, phase, wallMs } = this.#context;
    if (store.putIn === undefined)
      throw new BackpressureError(
        'ERR_WBP_TRANSACTION',
        'The store of this sender cannot store an event in a transaction of the application. Use postgresStore() or sqliteStore().',
      );
    this.#check();
    if (phase === 'opening')
      throw storeError(new Error('The store is not open. Await sender.opened before.'));
    if (!this.#fits(delivery.key, storedBytes(delivery)) || this.#isStoreFull) throw this.#full(delivery.key);
    const result = store.putIn(
      client,
      { delivery, isOverflow: false },
      { limits: this.#limits, nowMs: wallMs() },
    );
    if (isThenable(result)) return result.then((one) => this.#putInto(delivery, one));
    return Promise.resolve(this.#putInto(delivery, result));
  }

  #putInto({ key: endpoint, id }: StoredDelivery, result: PutResult): SendResult {
    const { report } = this.#context;
    checkedPut(result);
    if (result === 'full') throw this.#full(endpoint);
    if (result === 'stored') this.#holders.expected(endpoint);
    if (result === 'stored') return { id, status: 'accepted' };
    report.totals.duplicate += 1;
    if (result === 'conflict') report.totals.conflict += 1;
    if (report.listeners.any) report.emit({ type: result, endpoint, id });
    return { id, status: 'duplicate' };
  }

  /**
   * Call it when the level may have fallen.
   *
   * @param endpoint - whose event is finished: the room may be for its next one only.
   */
  relieve(endpoint?: string): void {
    const { level, report } = this.#context;
    if (!this.isFull || this.#isStoreFull) return;
    const fits = (of: string, { bytes }: WaitingSend): boolean => this.#fits(of, bytes);
    if (endpoint !== undefined) this.#release(endpoint, fits);
    this.#releaseAll(fits, endpoint === undefined ? Infinity : LOOKS);
    if (this.waiting > 0 || !level.isOpen) return;
    this.isFull = false;
    report.emit({ type: 'accepting', depth: level.depth, bytes: level.bytes });
  }

  /** Rejects all calls that wait for room: the sender accepts no more events. */
  end(): void {
    this.#releaseAll(() => true, Infinity);
  }

  /** Lets calls proceed. Endpoints take turns, until so many in a row have had no room. */
  #releaseAll(fits: (endpoint: string, call: WaitingSend) => boolean, looks: number): void {
    for (let misses = 0; misses < Math.min(looks, this.#lines.size);) {
      let next = this.#turns?.next();
      if (next === undefined || next.done === true) next = (this.#turns = this.#lines.keys()).next();
      misses = this.#release(next.value as string, fits) ? 0 : misses + 1;
    }
  }

  /** Lets the first call of an endpoint proceed, if it fits. */
  #release(endpoint: string, fits: (endpoint: string, call: WaitingSend) => boolean): boolean {
    const call = this.#firstOf(endpoint);
    if (call === undefined || !fits(endpoint, call)) return false;
    call.isOver = true;
    this.waiting -= 1;
    // Counted now, so that the next one does not use the same room.
    this.#context.level.begin(endpoint, call.bytes);
    call.proceed();
    return true;
  }

  /** The first call of an endpoint that waits. */
  #firstOf(endpoint: string): WaitingSend | undefined {
    const line = this.#lines.get(endpoint);
    while (line?.first?.isOver === true) line.take();
    if (line !== undefined && line.first === undefined) this.#lines.delete(endpoint);
    return line?.first;
  }

  #fits(endpoint: string, bytes: number): boolean {
    return this.#context.level.fits(bytes, this.#heldBy(endpoint), this.#holders.size);
  }

  #heldBy(endpoint: string): number {
    return this.#holders.storedOf(endpoint) + this.#context.level.incomingOf(endpoint);
  }

  #full(endpoint: string): BackpressureError {
    const { depth, bytes } = this.#context.level;
    return new BackpressureError(
      'ERR_WBP_SEND_FULL',
      `The outbox has no room for this endpoint: it contains ${String(depth)} events of ${String(bytes)} bytes, ${String(this.#heldBy(endpoint))} of them for the endpoint.`,
    );
  }

  #check(): void {
    const { phase, health, sendingHealth } = this.#context;
    if (phase === 'closing' || phase === 'closed')
      throw new BackpressureError('ERR_WBP_SENDER_CLOSED', 'The sender is closed.');
    if (phase === 'open' ? sendingHealth.isResting : !health.isWell) throw storeError();
  }

  /** Resolves when the event has room, which is counted then. */
  async #waitForRoom(endpoint: string, bytes: number, signal: AbortSignal | undefined): Promise<void> {
    const { settings, report, level } = this.#context;
    if (!this.isFull) {
      this.isFull = true;
      report.emit({ type: 'full', depth: level.depth, bytes: level.bytes });
    }
    inBackground(this.#recheck());
    if (settings.whenFull === 'refuse') {
      report.totals.refused += 1;
      throw this.#full(endpoint);
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
        const line = this.#lines.get(endpoint) ?? new Line<WaitingSend>();
        this.#lines.set(endpoint, line);
        line.push(call);
        this.waiting += 1;
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    try {
      this.#check();
    } catch (error) {
      level.end(endpoint, bytes, false);
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
    let isFailing = false;
    for (;;) {
      if ((!this.isFull && !isFailing) || !this.#context.isAccepting) break;
      await (this.isFull ? scheduler.hold(RECHECK_MS) : scheduler.pause(RECHECK_MS));
      try {
        const before = level.ownChanges;
        level.adopt(await store.stats(), before);
        this.#isStoreFull = false;
        // No event may follow whose commit finds out.
        if (isFailing) sendingHealth.worked();
        isFailing = false;
      } catch (error) {
        isFailing = true;
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
      const result = checkedPut(await this.#puts.add(put, delivery.rawBody.byteLength));
      sendingHealth.worked();
      isStored = result === 'stored';
      return result;
    } catch (error) {
      sendingHealth.failed('put', error);
      // The store works, and has certainly not stored this event.
      if (error instanceof BackpressureError && error.code === 'ERR_WBP_STORE_VALUE') throw error;
      throw storeError(error);
    } finally {
      level.end(delivery.key, bytes, isStored);
    }
  }
}

function storeError(cause?: unknown): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_SENDER_STORE',
    'The store did not confirm the event. Whether it is stored is unknown; send it again with the same id.',
    { cause },
  );
}

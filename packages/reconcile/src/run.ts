import { type Awaitable, BackpressureError, errorMessageOf, unlessAborted } from '@webhook-backpressure/base';
import type { EventBody } from '@webhook-backpressure/core/extend';
import type { Inbox } from '@webhook-backpressure/inbox';
import { nextTurn } from '@webhook-backpressure/inbox/store';
import type { ReconcileEvent } from './events.ts';
import {
  checkedContent,
  checkFound,
  type EventContent,
  eventsOf,
  type FoundEvent,
  type Source,
  type SourceTools,
} from './source.ts';

/** A list that yields more does not end. */
const MAX_EVENTS = 1_000_000;
const EVENTS_PER_TURN = 1000;
/** The API of a revoked token answers all requests in the same way; the rest of the list would be as many in vain. */
const MAX_FAILURES_IN_A_ROW = 10;
/** Bounds the waits for the inbox. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** Ids of events that were skipped or have failed are remembered up to this number of each. */
const MAX_IDS = 10_000;

/** What a run uses. */
export interface RunContext {
  readonly inbox: Inbox;
  readonly source: Source;
  readonly tools: SourceTools;
  readonly dryRun: boolean;
  /** Ids of all runs whose events cannot be added: they are reported once, and not fetched again. */
  readonly skipped: Set<string>;
  /** Ids of all runs whose events could not be fetched. */
  readonly failed: Set<string>;
  /** Resolves after about this time; rejects when the reconciler closes. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly emit: (event: EventBody<ReconcileEvent>) => void;
}

/** Takes the events of a source one after another, and adds those that the inbox does not have. */
export class Run {
  found = 0;
  missed = 0;
  added = 0;
  requested = 0;
  skipped = 0;
  /** When the earliest event happened that the next run must look at again; Infinity if there is none. */
  unsettledMs: number;
  /** The first failure of an event that is left to the next run. */
  error: string | undefined;
  readonly #context: RunContext;
  #failuresInARow = 0;

  constructor(context: RunContext) {
    this.#context = context;
    this.unsettledMs = Infinity;
  }

  /**
   * @param floorMs - returns a time that moves on during a long run. Earlier events are left out: their ids may be forgotten, so
   * that they would be handled again.
   * @throws what the source throws.
   */
  async take(since: Date, floorMs: () => number): Promise<void> {
    const { source, tools } = this.#context;
    const events = eventsOf(source, since, tools);
    try {
      for (let taken = 1; this.#failuresInARow < MAX_FAILURES_IN_A_ROW; taken += 1) {
        const next = await unlessAborted(tools.signal, events.next());
        if (next.done === true) return;
        if (taken > MAX_EVENTS) throw endless();
        // A list in memory would let nothing else happen until its end.
        if (taken % EVENTS_PER_TURN === 0) await nextTurn();
        await this.#take(next.value, floorMs());
      }
      // The others were not looked at.
      this.unsettledMs = -Infinity;
    } finally {
      // Of a source that does not react to the signal, the promise may never settle.
      Promise.resolve(events.return?.()).catch(() => undefined);
    }
  }

  async #take(event: unknown, floorMs: number): Promise<void> {
    try {
      checkFound(event);
    } catch (error) {
      // The events behind it must not wait until the source is mended.
      this.error ??= errorMessageOf(error);
      this.unsettledMs = -Infinity;
      return;
    }
    if (event.at.getTime() < floorMs) return;
    this.found += 1;
    const missedBefore = this.missed;
    try {
      await this.#settle(event);
    } catch (error) {
      this.#context.tools.signal.throwIfAborted();
      if (this.missed === missedBefore) this.#miss(event);
      if (isOfTheEvent(error)) this.#skip(event.id, error);
      else this.#leave(event, error);
    }
  }

  async #settle(event: FoundEvent): Promise<void> {
    const { inbox, dryRun, skipped } = this.#context;
    const { id, headers, body } = event;
    let content: EventContent | undefined = body === undefined ? undefined : { headers, body };
    const isKnown = await this.#isKnown(event, content);
    if (isKnown === true) return;
    if (isKnown === false || dryRun || skipped.has(id)) this.#miss(event);
    if (dryRun) return;
    if (content === undefined) {
      if (skipped.has(id)) {
        this.skipped += 1;
        return;
      }
      const loaded = await this.#load(event);
      if (loaded === 'requested') {
        if (isKnown === undefined) this.#miss(event);
        this.requested += 1;
        // It is settled when a later run finds it in the inbox.
        this.unsettledMs = Math.min(this.unsettledMs, event.at.getTime());
        return;
      }
      content = loaded;
      if (isKnown === undefined) {
        if (await this.#isKnown(event, content)) return;
        this.#miss(event);
      }
    }
    const delivery = { ...namesOf(event), ...content };
    const { status } = await this.#withStore(() => {
      this.#checkRoom();
      return inbox.add(delivery, { asReceived: true });
    });
    // Otherwise it has arrived meanwhile.
    if (status === 'accepted') this.added += 1;
  }

  #miss({ id, sender, at }: FoundEvent): void {
    this.missed += 1;
    this.#context.emit({ type: 'missed', id, sender, happenedAt: at });
  }

  /** Undefined if that cannot be said without the body, because `keyGenerator` or `id` needs it. */
  async #isKnown(event: FoundEvent, content: EventContent | undefined): Promise<boolean | undefined> {
    const { inbox, tools } = this.#context;
    const { headers } = event;
    const delivery = { ...namesOf(event), ...(content ?? { headers, body: '' }) };
    try {
      const { status } = await this.#withStore(() => inbox.add(delivery, { asReceived: true, dryRun: true }));
      return status === 'duplicate';
    } catch (error) {
      tools.signal.throwIfAborted();
      if (content !== undefined || isOfTheEvent(error)) throw error;
      return undefined;
    }
  }

  async #load({ load }: FoundEvent): Promise<EventContent | 'requested'> {
    const { tools } = this.#context;
    // A redelivery needs room as well.
    await this.#withStore(() => {
      this.#checkRoom();
    });
    const content = checkedContent(await unlessAborted(tools.signal, Promise.resolve(load?.())));
    this.#failuresInARow = 0;
    return content;
  }

  #skip(id: string, error: unknown): void {
    const { skipped, emit } = this.#context;
    this.skipped += 1;
    if (remember(skipped, id)) emit({ type: 'skipped', id, error: errorMessageOf(error) });
  }

  /** To the next run. */
  #leave({ id, at }: FoundEvent, error: unknown): void {
    this.error ??= errorMessageOf(error);
    this.unsettledMs = Math.min(this.unsettledMs, at.getTime());
    // Events that fail in each run must not end it before those behind them.
    if (remember(this.#context.failed, id)) this.#failuresInARow += 1;
  }

  /** Leaves the part above the high-water mark to deliveries that arrive. */
  #checkRoom(): void {
    const { depth, highWater } = this.#context.inbox.snapshot();
    if (depth < highWater) return;
    const sentence = `The inbox has ${String(depth)} deliveries, and its high-water mark is ${String(highWater)}.`;
    throw new BackpressureError('ERR_WBP_ADD_FULL', sentence);
  }

  /** Repeats a call until the inbox has room and its store works. */
  async #withStore<T>(call: () => Awaitable<T>): Promise<T> {
    const { sleep, emit } = this.#context;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)) {
      try {
        return await call();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (waitMs === FIRST_WAIT_MS) emit({ type: 'waiting', error: errorMessageOf(error) });
        await sleep(waitMs);
      }
    }
  }
}

/** Whether the id is new. */
function remember(ids: Set<string>, id: string): boolean {
  if (ids.has(id)) return false;
  if (ids.size >= MAX_IDS) ids.clear();
  ids.add(id);
  return true;
}

/** The inbox will reject the event each time. All other errors may be of a callback or of the API. */
function isOfTheEvent(error: unknown): boolean {
  if (!(error instanceof BackpressureError)) return false;
  return error.code === 'ERR_WBP_ADD' || error.code === 'ERR_WBP_STORE_VALUE';
}

function isTemporary(error: unknown): boolean {
  if (!(error instanceof BackpressureError)) return false;
  return error.code === 'ERR_WBP_ADD_FULL' || error.code === 'ERR_WBP_ADD_STORE';
}

function endless(): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_RECONCILE_SOURCE',
    'source() must yield at most 1,000,000 events in a run.',
  );
}

function namesOf({
  id,
  key,
  sender,
  context,
}: FoundEvent): Pick<FoundEvent, 'id' | 'key' | 'sender' | 'context'> {
  return { id, key, sender, context };
}

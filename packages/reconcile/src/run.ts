import { BackpressureError, errorMessageOf } from '@webhook-backpressure/base';
import type { EventBody } from '@webhook-backpressure/core/extend';
import type { AddedDelivery, AddResult, Inbox } from '@webhook-backpressure/inbox';
import type { ReconcileEvent } from './events.ts';
import { unlessAborted } from './unless-aborted.ts';
import {
  checkedContent,
  checkFound,
  type EventContent,
  type FoundEvent,
  type Source,
  type SourceTools,
} from './source.ts';

/** A list that yields more does not end. */
const MAX_EVENTS = 1_000_000;
/** The API of a revoked token answers all requests in the same way; the rest of the list would be as many in vain. */
const MAX_FAILURES_IN_A_ROW = 10;
/** Bounds the waits for the inbox. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** Ids of events that cannot be added are remembered up to this number, so that they are reported once. */
const MAX_SKIPPED = 10_000;

/** What a run uses. */
export interface RunContext {
  readonly inbox: Inbox;
  readonly source: Source;
  readonly tools: SourceTools;
  readonly dryRun: boolean;
  /** Of all runs. */
  readonly skipped: Set<string>;
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
   * @param floorMs - earlier events are left out: their ids may be forgotten, so that they would be handled again.
   * @throws what the source throws.
   */
  async take(since: Date, floorMs: number): Promise<void> {
    const { source, tools } = this.#context;
    const events = source(since, tools)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next: IteratorResult<unknown> = await unlessAborted(tools.signal, events.next());
        if (next.done === true) return;
        const { value } = next;
        checkFound(value);
        if (value.at.getTime() < floorMs) continue;
        this.found += 1;
        if (this.found > MAX_EVENTS) throw endless();
        await this.#settle(value);
      }
    } finally {
      // Of a source that does not react to the signal, the promise may never settle.
      Promise.resolve(events.return?.()).catch(() => undefined);
    }
  }

  async #settle(event: FoundEvent): Promise<void> {
    const missedBefore = this.missed;
    try {
      const { headers, body } = event;
      if (body !== undefined) await this.#bring(event, { headers, body });
      else await this.#bringLater(event);
    } catch (error) {
      this.#skip(event.id, error);
      // The inbox has rejected it before it was looked up.
      if (this.missed === missedBefore) this.#miss(event);
    }
  }

  /** Adds an event with its body, unless the inbox has it. */
  async #bring(event: FoundEvent, content: EventContent): Promise<void> {
    const { inbox, dryRun } = this.#context;
    const delivery = { ...namesOf(event), ...content };
    if (await this.#isKnown(delivery)) return;
    this.#miss(event);
    if (dryRun) return;
    const { status } = await this.#withRoom(() => inbox.add(delivery, { asReceived: true }));
    // Otherwise it has arrived meanwhile.
    if (status === 'accepted') this.added += 1;
  }

  async #bringLater(event: FoundEvent): Promise<void> {
    const { dryRun, skipped, tools } = this.#context;
    const { id, headers } = event;
    let isMissing = skipped.has(id);
    try {
      if (await this.#isKnown({ ...namesOf(event), headers, body: '' })) return;
      isMissing ||= dryRun;
    } catch {
      // `keyGenerator` or `id` needs the body.
      tools.signal.throwIfAborted();
    }
    if (isMissing) {
      this.#miss(event);
      if (skipped.has(id)) this.skipped += 1;
      return;
    }
    const content = await this.#load(event);
    if (content === 'requested') {
      this.#miss(event);
      this.requested += 1;
    } else if (content !== undefined) await this.#bring(event, content);
  }

  #miss({ id, sender, at }: FoundEvent): void {
    this.missed += 1;
    this.#context.emit({ type: 'missed', id, sender, happenedAt: at });
  }

  async #isKnown(delivery: AddedDelivery): Promise<boolean> {
    const { inbox } = this.#context;
    const { status } = await this.#withStore(() => inbox.add(delivery, { asReceived: true, dryRun: true }));
    return status === 'duplicate';
  }

  /** Undefined if it failed, and is left to the next run. */
  async #load({ load, at }: FoundEvent): Promise<EventContent | 'requested' | undefined> {
    try {
      const content = checkedContent(await load?.());
      this.#failuresInARow = 0;
      // A redelivery is settled when a later run finds it in the inbox.
      if (content === 'requested') this.unsettledMs = Math.min(this.unsettledMs, at.getTime());
      return content;
    } catch (error) {
      this.#context.tools.signal.throwIfAborted();
      this.error ??= errorMessageOf(error);
      this.unsettledMs = Math.min(this.unsettledMs, at.getTime());
      this.#failuresInARow += 1;
      if (this.#failuresInARow >= MAX_FAILURES_IN_A_ROW) throw new EndOfRun(error);
      return undefined;
    }
  }

  #skip(id: string, error: unknown): void {
    const { tools, skipped, emit } = this.#context;
    if (error instanceof EndOfRun) throw error.cause;
    tools.signal.throwIfAborted();
    this.skipped += 1;
    if (skipped.has(id)) return;
    if (skipped.size >= MAX_SKIPPED) skipped.clear();
    skipped.add(id);
    emit({ type: 'skipped', id, error: errorMessageOf(error) });
  }

  /** Leaves the part above the high-water mark to deliveries that arrive. */
  #withRoom(add: () => Promise<AddResult>): Promise<AddResult> {
    const { inbox } = this.#context;
    return this.#withStore(() => {
      const { depth, highWater } = inbox.snapshot();
      if (depth < highWater) return add();
      const sentence = `The inbox has ${String(depth)} deliveries, and its high-water mark is ${String(highWater)}.`;
      return Promise.reject(new BackpressureError('ERR_WBP_ADD_FULL', sentence));
    });
  }

  /** Repeats a call until the inbox has room and its store works. */
  async #withStore(call: () => Promise<AddResult>): Promise<AddResult> {
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

/** A failure that is not of one event. */
class EndOfRun extends Error {
  constructor(cause: unknown) {
    super('The run ends.', { cause });
  }
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

import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import { partIdOf, type EventHandler, type EventHandlers } from '../options/event-handlers.ts';
import type { DeliveryHandler, ProcessContext } from '../options/inbox-options.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Put, PutResult, StoreLimits } from '../store/receiving-store.ts';
import type { HandlerRun } from './handler-run.ts';

/** The deliveries of handlers replace one that has its place: refusing them would keep it from ending. */
const NO_LIMITS: StoreLimits = {
  capacity: Number.MAX_SAFE_INTEGER,
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxDeadLetters: Number.MAX_SAFE_INTEGER,
  maxDeadLetterBytes: Number.MAX_SAFE_INTEGER,
};

/**
 * How a delivery was completed without its handler: `split` into one for each of several handlers, `unmatched` by any, or
 * `coalesced` with a newer one.
 * Undefined: its handler has processed it.
 */
export type CompletedAs = 'split' | 'unmatched' | 'coalesced' | undefined;

/**
 * Passes a claimed delivery to its handler. If it matches several, one delivery for each is stored instead, so that each
 * handler has attempts and dead letters that do not depend on the others.
 */
export class DeliveryRouter {
  readonly #inbox: InboxState;
  readonly #handlers: EventHandlers;
  readonly #process: DeliveryHandler | undefined;
  readonly #puts: GroupCommit<Put, PutResult>;

  /** @param process - the handler of deliveries that match no other. */
  constructor(inbox: InboxState, handlers: EventHandlers, process: DeliveryHandler | undefined) {
    this.#inbox = inbox;
    this.#handlers = handlers;
    this.#process = process;
    this.#puts = new GroupCommit((batch) =>
      inbox.store.put(batch, { limits: NO_LIMITS, nowMs: inbox.wall.trustedMs() }),
    );
  }

  /**
   * The handler that a delivery was stored for; undefined if it was not stored for one.
   *
   * @throws Error when this process has no such handler.
   */
  handlerOf({ handler: name }: StoredDelivery): EventHandler | undefined {
    if (name === undefined) return undefined;
    const handler = this.#handlers.get(name);
    if (handler === undefined) throw new Error(`There is no handler with the name ${JSON.stringify(name)}.`);
    return handler;
  }

  /** Whether this process has the handler that a delivery was stored for, if it was stored for one. */
  hasHandlerOf({ handler }: StoredDelivery): boolean {
    return handler === undefined || this.#handlers.get(handler) !== undefined;
  }

  /** Calls the handler of a decrypted delivery, or stores one delivery for each of several. */
  async pass(run: HandlerRun, opened: ClaimedDelivery, context: ProcessContext): Promise<CompletedAs> {
    const delivery = inboxDelivery(opened);
    const only = this.handlerOf(opened);
    const handlers = only === undefined ? this.#handlers.of(delivery) : [only];
    const [first, ...others] = handlers;
    if (first === undefined) {
      if (this.#process === undefined) return 'unmatched';
      await this.#process(delivery, context);
      return undefined;
    }
    // In an ordered key, one that ran directly would overtake those that were stored for its handler before.
    const isSplit = only === undefined && (others.length > 0 || this.#inbox.fixtures.isOrdered === true);
    if (isSplit) return await this.#split(run, opened, handlers);
    run.handler = first.name;
    await first.handle(delivery, context);
    return undefined;
  }

  async #split(
    run: HandlerRun,
    opened: ClaimedDelivery,
    handlers: readonly EventHandler[],
  ): Promise<CompletedAs> {
    const { level, encryption } = this.#inbox;
    const parts: StoredDelivery[] = [];
    for (const { name } of handlers) parts.push(await encryption.encrypt(partOf(opened, name)));
    const results = await this.#store(run, parts);
    for (const [at, part] of parts.entries()) {
      const result = results[at];
      // A duplicate was stored by an earlier attempt, which ended before the delivery was completed.
      if (result === 'stored') level.add({ key: part.key, bytes: storedBytes(part) });
      else if (result !== 'duplicate' && result !== 'conflict')
        throw new Error(`The store returned ${String(result)} for the delivery of a handler.`);
    }
    return 'split';
  }

  /** A store that fails says nothing about the delivery, whose attempt would count. */
  async #store(run: HandlerRun, parts: readonly StoredDelivery[]): Promise<readonly PutResult[]> {
    const { health } = this.#inbox;
    for (;;) {
      await health.rest();
      try {
        const puts = parts.map((delivery) => ({ delivery, isOverflow: false }));
        const results = await Promise.all(
          puts.map((put) => this.#puts.add(put, put.delivery.rawBody.byteLength)),
        );
        health.worked();
        return results;
      } catch (error) {
        if (error instanceof BackpressureError && error.code === 'ERR_WBP_STORE_VALUE') throw error;
        health.failed('put', error);
        if (run.state !== 'running' || this.#inbox.phase !== 'open') throw error;
      }
    }
  }
}

/** The delivery of one handler. */
function partOf(
  { attempt: _attempt, strandings: _strandings, notBeforeMs: _notBeforeMs, ...whole }: ClaimedDelivery,
  name: string,
): StoredDelivery {
  return {
    ...whole,
    id: partIdOf(whole.id, name),
    // Remembered after its completion, even if the id of the whole is not: splitting may be repeated.
    isIdGenerated: false,
    sealedBy: undefined,
    fingerprint: undefined,
    handler: name,
  };
}

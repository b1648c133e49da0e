import { errorMessageOf } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { Settlement } from '../store/inbox-store.ts';
import { Completion } from './completion.ts';
import { LEASE_MS } from './lease-renewal.ts';
import type { Outages } from './outages.ts';
import { type Failure, type RunSettler, settlementOf } from './run-settler.ts';
import type { HandlerRun } from './handler-run.ts';

/** When a settlement that may have waited for the lock of a transaction is tried again. */
const AGAIN_MS = 5000;
const NOT_COMMITTED = 'complete() was called, but its transaction was not committed.';

/** Ends runs in which `complete` was called. */
export class CompletionEnds {
  readonly #inbox: InboxState;
  readonly #settler: RunSettler;
  readonly #outages: Outages;
  readonly #ended: (run: HandlerRun, isSuccess: boolean) => void;
  readonly #isAllowed: boolean;
  #alone: Promise<unknown> = Promise.resolve();

  /**
   * @param ended - called when a run is over and its worker free.
   * @param isAllowed - false with `coalesce`: the transaction would complete one delivery of a group.
   */
  constructor(
    inbox: InboxState,
    settler: RunSettler,
    outages: Outages,
    ended: (run: HandlerRun, isSuccess: boolean) => void,
    isAllowed: boolean,
  ) {
    this.#isAllowed = isAllowed;
    this.#inbox = inbox;
    this.#settler = settler;
    this.#outages = outages;
    this.#ended = ended;
  }

  /** The calls of `complete` in a run. */
  of(run: HandlerRun): Completion {
    const { store } = this.#inbox;
    const settle = (client: unknown): Awaitable<boolean> => this.#settleIn(run, client);
    return (run.completion ??= new Completion({
      isRunning: () => run.state === 'running',
      settleIn: this.#isAllowed && typeof store.settleIn === 'function' ? settle : undefined,
    }));
  }

  /**
   * Ends a run whose handler has ended, or whose inbox closes.
   *
   * @param thrown - what the handler has thrown, if it has.
   */
  async end(run: HandlerRun, thrown?: { readonly error: unknown }): Promise<void> {
    await this.#end(run, this.of(run), thrown);
  }

  /** Ends an overdue run: a settlement would wait for the transaction that its handler may have open. */
  async endOverdue(run: HandlerRun, error: string): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      run.onHandlerEnd = resolve;
    });
    const late = this.#inbox.scheduler.pause(LEASE_MS);
    await this.#end(run, this.of(run), { error }, Promise.race([ended, late]));
  }

  #settleIn(run: HandlerRun, client: unknown): Awaitable<boolean> {
    const { store, finished, wall } = this.#inbox;
    const keep = (run.isKept = finished.canKeep(run.bytes));
    return store.settleIn?.(client, { ...run.ref, as: 'completed', keep }, wall.trustedMs()) ?? false;
  }

  /**
   * Ends a run in which `complete` was called: the store says whether its transaction was committed.
   *
   * @param thrown - what the handler has thrown, if it has.
   * @param ended - for an overdue run, whose worker is free from now on: resolves when its transaction is probably over.
   */
  async #end(
    run: HandlerRun,
    { hasSucceeded, error: failed }: Completion,
    thrown?: { readonly error: unknown },
    ended?: Promise<void>,
  ): Promise<void> {
    const { store, health, scheduler, now, wall, finished } = this.#inbox;
    const tookMs = now() - run.startedAtMs;
    const error = thrown?.error ?? failed ?? new Error(NOT_COMMITTED);
    run.isMade = true;
    run.state = 'settling';
    if (ended !== undefined) this.#ended(run, false);
    await ended;
    const isCommitted = async (): Promise<boolean> =>
      hasSucceeded && (await store.getPending(run.ref, wall.trustedMs())) === undefined;
    let failure: Failure | undefined;
    let settlement: Settlement | undefined;
    for (;;) {
      await health.rest();
      try {
        if (await isCommitted()) {
          if (run.isKept) finished.add('kept', run.bytes);
          this.#outages.succeeded(run.claimed.key);
          this.#settler.completed(run, tookMs);
          return;
        }
      } catch (cause) {
        health.failed('getPending', cause);
        if (this.#inbox.phase === 'open') continue;
      }
      // The store gives the claim back when it closes, or the lease runs out.
      if (this.#inbox.phase !== 'open') break;
      failure ??= this.#settler.judge(run, error, { isOverdue: ended !== undefined });
      try {
        settlement ??= settlementOf(run, errorMessageOf(error), failure);
        const confirmRoom = finished.expect(settlement, run.bytes);
        const isHeld = await this.#settleAlone(settlement).catch((cause: unknown) => {
          confirmRoom(false);
          throw cause;
        });
        confirmRoom(isHeld);
        if (isHeld) this.#settler.failed(run, errorMessageOf(error), tookMs, failure);
        else if (await isCommitted()) continue;
        else this.#settler.lose(run);
        return;
      } catch {
        // Its transaction may be open, and have the lock for which the settlement has waited.
        this.#ended(run, false);
        await scheduler.pause(AGAIN_MS);
      }
    }
    this.#ended(run, false);
  }

  /** Not together with others, which would wait for the same lock; and one at a time, for each may take a connection. */
  #settleAlone(settlement: Settlement): Promise<boolean> {
    const { store, wall } = this.#inbox;
    const settled = this.#alone.then(
      async () => (await store.settle([settlement], wall.trustedMs()))[0] === true,
    );
    this.#alone = settled.catch(() => undefined);
    return settled;
  }
}

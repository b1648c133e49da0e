import { errorMessageOf, inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import { callObserver } from '../events/call-observer.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import type { ClaimedDelivery, Settlement } from '../store/inbox-store.ts';
import type { CompletedAs } from './delivery-router.ts';
import type { Outages } from './outages.ts';
import { missingKeyDelayMs, retryDelayMs, retryInstructionOf } from './retries.ts';
import type { HandlerRun } from './handler-run.ts';
import type { RunningHandlers } from './running-handlers.ts';

/** The shortest delay before the last attempt is repeated because the dead-letter queue is full. */
const MIN_REPEAT_MS = 1000;

/** Facts about a failure beside the thrown error. */
export interface FailureFacts {
  /** Whether the handler took longer than `maxHandlingMs`. */
  readonly isOverdue?: boolean;
  /** Whether the handler was not called, because the delivery could not be decrypted. */
  readonly isOfDelivery?: boolean;
  /** Whether this process does not have its encryption key, or its handler. Another one may, and this one after its next deployment. */
  readonly lacksKey?: boolean;
}

/** The consequence of a failed attempt. */
export type Failure =
  | { readonly as: 'dead'; readonly retryAtMs?: undefined }
  | {
      readonly as: 'failed' | 'released';
      readonly retryInMs: number;
      readonly retryAtMs: number;
      /** Whether it was the last attempt, and is repeated because the dead-letter queue is full. */
      readonly isRepeated: boolean;
    };

/** Ends runs: stores the result, reports it, and then releases the worker. */
export class RunSettler {
  readonly #inbox: InboxState;
  readonly #handlers: RunningHandlers;
  readonly #outages: Outages;
  readonly #onDead: InboxOptions['onDead'];
  readonly #ended: (run: HandlerRun, isSuccess: boolean) => void;
  readonly #settlements: GroupCommit<Settlement, boolean>;

  /** @param ended - called when a run is over and its worker free. */
  constructor(
    inbox: InboxState,
    handlers: RunningHandlers,
    outages: Outages,
    onDead: InboxOptions['onDead'],
    ended: (run: HandlerRun, isSuccess: boolean) => void,
  ) {
    this.#inbox = inbox;
    this.#handlers = handlers;
    this.#outages = outages;
    this.#onDead = onDead;
    this.#ended = ended;
    this.#settlements = new GroupCommit((batch) => inbox.store.settle(batch, inbox.wall.trustedMs()));
  }

  get isStoring(): boolean {
    return this.#settlements.isBusy;
  }

  /** @param as - absent when the handler has processed the delivery. */
  async complete(run: HandlerRun, as?: CompletedAs): Promise<void> {
    const { finished, now } = this.#inbox;
    const tookMs = as === 'coalesced' ? 0 : now() - run.startedAtMs;
    run.isMade = true;
    for (const follower of live(run.followers)) inBackground(this.complete(follower, 'coalesced'));
    this.#outages.succeeded(run.claimed.key);
    // Those that replace a split one are kept; replaying it would find them known.
    const keep = as !== 'split' && finished.canKeep(run.bytes);
    if (await this.#settle(run, { ...run.ref, as: 'completed', keep })) this.completed(run, tookMs, as);
  }

  /** Reports a run whose delivery is completed in the store. */
  completed(run: HandlerRun, tookMs: number, as?: CompletedAs): void {
    const { report, level, now } = this.#inbox;
    const { key } = run.claimed;
    this.#handlers.note(true, now());
    level.remove({ key, bytes: run.bytes });
    report.totals.completed += 1;
    if (as !== undefined) report.totals[as] += 1;
    report.emit({ type: 'completed', ...run.facts, tookMs, ...(as !== undefined && { as }) });
    this.#ended(run, true);
    this.#inbox.judge();
  }

  giveBackSoon(run: HandlerRun, retryAtMs?: number): void {
    inBackground(this.giveBack(run, retryAtMs));
  }

  /** Ends a run whose handler has thrown. */
  async fail(run: HandlerRun, thrown: unknown, what: FailureFacts = {}): Promise<void> {
    const error = errorMessageOf(thrown);
    // Without a call of the handler, no time was taken.
    const tookMs = what.isOfDelivery === true ? 0 : this.#inbox.now() - run.startedAtMs;
    run.isMade = true;
    await this.#fail(run, error, tookMs, this.judge(run, thrown, what));
  }

  /** Ends a run that has no attempt left, without calling the handler. */
  async failLast(run: HandlerRun, error: string): Promise<void> {
    await this.#fail(run, error, 0, this.#last(run));
  }

  /** @param retryAtMs - when it is due again, in ms since 1970. Absent: immediately. */
  async giveBack(run: HandlerRun, retryAtMs?: number): Promise<void> {
    if (!(await this.#settle(run, { ...run.ref, as: 'released', retryAtMs }))) return;
    this.#inbox.report.emit({ type: 'released', ...run.facts });
    this.#ended(run, false);
  }

  /** Ends a run whose delivery another process has taken over. */
  lose(run: HandlerRun): void {
    const { report } = this.#inbox;
    report.totals.lost += 1;
    report.emit({ type: 'lost', ...run.facts });
    for (const follower of live(run.followers)) this.giveBackSoon(follower);
    this.#ended(run, false);
  }

  /** Decides what follows from a failure. */
  judge(
    run: HandlerRun,
    thrown: unknown,
    { isOverdue = false, isOfDelivery = false, lacksKey = false }: FailureFacts,
  ): Failure {
    const { settings, random, wall } = this.#inbox;
    const { isUnrecoverable, delayMs } = retryInstructionOf(thrown);
    const { retry } = settings;
    const { countedAttempts, claimed } = run;
    /** Undefined if the attempt counts. */
    let uncountedMs: number | undefined;
    if (isUnrecoverable || isOfDelivery) {
      // The failure concerns this delivery alone.
      this.#outages.wasInconclusive(claimed.key);
      if (isUnrecoverable) return this.#last(run);
    } else {
      const error = errorMessageOf(thrown);
      uncountedMs = this.#outages.failed({ delivery: run.holder.ref, countedAttempts, isOverdue, error });
    }
    const nowMs = wall.trustedMs();
    if (lacksKey) uncountedMs ??= missingKeyDelayMs(nowMs - claimed.receivedAtMs, retry, random);
    const isCounted = uncountedMs === undefined;
    if (isCounted && countedAttempts >= retry.attempts) return this.#last(run);
    const retryInMs = delayMs ?? uncountedMs ?? retryDelayMs(countedAttempts, retry, random);
    const as = isCounted ? 'failed' : 'released';
    return { as, retryInMs, retryAtMs: nowMs + retryInMs, isRepeated: false };
  }

  /**
   * After the last attempt a delivery moves to the dead-letter queue. If that is full, the delivery stays unfinished, and
   * its last attempt is repeated after the longest delay: the inbox fills up and refuses deliveries, but loses none.
   */
  #last({ bytes }: HandlerRun): Failure {
    const { finished, settings, wall } = this.#inbox;
    if (finished.canKeepDeadLetter(bytes)) return { as: 'dead' };
    const retryInMs = Math.max(MIN_REPEAT_MS, settings.retry.maxDelayMs);
    return { as: 'failed', retryInMs, retryAtMs: wall.trustedMs() + retryInMs, isRepeated: true };
  }

  async #fail(run: HandlerRun, error: string, tookMs: number, failure: Failure): Promise<void> {
    // Older ones wait for the retry, so that the newest runs again. They have used no attempt.
    for (const follower of live(run.followers)) this.giveBackSoon(follower, failure.retryAtMs);
    if (await this.#settle(run, settlementOf(run, error, failure))) this.failed(run, error, tookMs, failure);
  }

  /** Reports a run whose failure is stored. */
  failed(run: HandlerRun, error: string, tookMs: number, failure: Failure): void {
    const { report, level, now } = this.#inbox;
    const { key } = run.claimed;
    const attempted = { ...run.facts, tookMs, error };
    this.#handlers.note(failure.as === 'dead', now());
    report.totals.failed += 1;
    if (failure.as === 'dead') {
      level.remove({ key, bytes: run.bytes });
      report.totals.dead += 1;
      report.emit({ type: 'dead', ...attempted });
      this.#callOnDead(run.claimed, error);
    } else {
      const { retryInMs, as, isRepeated } = failure;
      if (isRepeated) {
        report.totals.deadLettersFull += 1;
        report.emit({ type: 'dead-letters-full', ...attempted, retryInMs });
      } else {
        report.emit({ type: 'failed', ...attempted, retryInMs, isCounted: as === 'failed' });
      }
    }
    this.#ended(run, false);
    this.#inbox.judge();
  }

  /** A delivery that cannot be decrypted is passed without its contents. */
  #callOnDead(claimed: ClaimedDelivery, error: string): void {
    const onDead = this.#onDead;
    if (onDead === undefined) return;
    const call = (delivery: ClaimedDelivery): void => {
      callObserver(() => onDead(inboxDelivery(delivery), error));
    };
    const decrypted = this.#inbox.encryption.decryptOrEmpty(claimed);
    if (decrypted instanceof Promise) inBackground(decrypted.then(call));
    else call(decrypted);
  }

  /** Stores the result, however long that takes. Returns false when another process had taken over the claim. */
  async #settle(run: HandlerRun, settlement: Settlement): Promise<boolean> {
    const { health, finished } = this.#inbox;
    const confirmRoom = finished.expect(settlement, run.bytes);
    run.state = 'settling';
    for (;;) {
      await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlement);
        health.worked();
        confirmRoom(isHeld);
        if (!isHeld) this.lose(run);
        return isHeld;
      } catch (error) {
        health.failed('settle', error);
        // Then the claim ends when the store closes, or when the lease runs out.
        if (!this.#inbox.isOutOfTime) continue;
        confirmRoom(false);
        this.#ended(run, false);
        return false;
      }
    }
  }
}

/** The followers that still wait for the result of the newest. */
function live(followers: readonly HandlerRun[]): readonly HandlerRun[] {
  return followers.filter(({ state }) => state === 'waiting' || state === 'running');
}

export function settlementOf(run: HandlerRun, error: string, failure: Failure): Settlement {
  const { ref } = run;
  if (failure.as === 'dead') return { ...ref, as: 'dead', error };
  const { as, retryAtMs, isRepeated } = failure;
  return as === 'failed' ? { ...ref, as, retryAtMs, error, isRepeated } : { ...ref, as, retryAtMs };
}

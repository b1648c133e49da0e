import { GroupCommit } from '../store-calls/group-commit.ts';
import type { Outages } from './outages.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { InboxStore, Settlement } from '../store/inbox-store.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { InboxDrainRate } from '../capacity/inbox-drain-rate.ts';
import { missingKeyDelayMs, retryDelayMs } from './retry-delay.ts';
import { retryInstructionOf } from './retry-errors.ts';
import type { HandlerRun } from './handler-run.ts';
import type { Encryption } from '../encryption/encryption.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';
import { errorMessageOf } from '../events/error-message.ts';
import type { FinishedUsage } from '../capacity/finished-usage.ts';
import { callOnDead } from './call-on-dead.ts';

export interface RunSettlerParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly settings: () => InboxSettings;
  readonly level: FillLevel;
  readonly inboxRate: InboxDrainRate;
  readonly finished: FinishedUsage;
  readonly report: InboxReport;
  readonly outages: Outages;
  readonly onDead: InboxOptions['onDead'];
  readonly encryption: Encryption;
  /** Whether a failed settlement is repeated. */
  readonly isOpen: () => boolean;
  /** Called before the result is stored: the run has no deadline any more. */
  readonly settling: (run: HandlerRun) => void;
  /** Called when the run is over and its worker free. */
  readonly ended: (run: HandlerRun, outcome: 'success' | 'failure') => void;
  /** Called when a delivery is finished, so that the level has fallen. */
  readonly relieved: () => void;
}

/** The shortest delay before the last attempt is repeated because the dead-letter queue is full. */
const LEAST_REPEAT_MS = 1000;

/** Facts about a failure beside the thrown error. */
interface FailureFacts {
  /** Whether the handler took longer than `maxHandlingMs`. */
  readonly isOverdue?: boolean;
  /** Whether the handler was not called, because the delivery could not be decrypted. */
  readonly isOfDelivery?: boolean;
  /** Whether this process does not have its encryption key. Another one may, and this one after its next deployment. */
  readonly lacksKey?: boolean;
}

/** The consequence of a failed attempt. */
type Failure =
  | { readonly as: 'dead' }
  | {
      readonly as: 'failed' | 'released';
      readonly retryInMs: number;
      readonly retryAtMs: number;
      /** Whether it was the last attempt, and is repeated because the dead-letter queue is full. */
      readonly isRepeated: boolean;
    };

/** Ends runs: stores the result, reports it, and then releases the worker. */
export class RunSettler {
  readonly #parts: RunSettlerParts;
  readonly #settlements: GroupCommit<Settlement, boolean>;

  constructor(parts: RunSettlerParts) {
    this.#parts = parts;
    this.#settlements = new GroupCommit((batch) => parts.store.settle(batch, parts.wallMs()));
  }

  get isStoring(): boolean {
    return this.#settlements.isBusy;
  }

  async complete(run: HandlerRun): Promise<void> {
    const { report, level, finished, inboxRate, now, outages, ended, relieved } = this.#parts;
    const { key, sender, id, attempt } = run.claimed;
    const tookMs = now() - run.startedAtMs;
    run.isMade = true;
    outages.succeeded(run.ref);
    const keep = finished.canKeep(run.bytes);
    if (!(await this.#settle(run, { ...run.ref, as: 'completed', keep }))) return;
    inboxRate.note(true, now());
    level.remove({ key, bytes: run.bytes });
    report.totals.completed += 1;
    report.emit({ type: 'completed', key, sender, id, attempt, tookMs });
    ended(run, 'success');
    relieved();
  }

  /** Ends a run whose handler has thrown. */
  async fail(run: HandlerRun, thrown: unknown, what: FailureFacts = {}): Promise<void> {
    const error = errorMessageOf(thrown);
    // Without a call of the handler, no time was taken.
    const tookMs = what.isOfDelivery === true ? 0 : this.#parts.now() - run.startedAtMs;
    run.isMade = true;
    await this.#fail(run, error, tookMs, this.#judge(run, thrown, what));
  }

  /** Ends a run that has no attempt left, without calling the handler. */
  async failLast(run: HandlerRun, error: string): Promise<void> {
    run.isMade = true;
    await this.#fail(run, error, 0, this.#last(run));
  }

  async giveBack(run: HandlerRun): Promise<void> {
    const { report, ended } = this.#parts;
    const { key, sender, id, attempt } = run.claimed;
    if (!(await this.#settle(run, { ...run.ref, as: 'released' }))) return;
    report.emit({ type: 'released', key, sender, id, attempt });
    ended(run, 'failure');
  }

  /** Ends a run whose delivery another process has taken over. */
  lose(run: HandlerRun): void {
    const { report, ended } = this.#parts;
    const { key, sender, id, attempt } = run.claimed;
    report.totals.lost += 1;
    report.emit({ type: 'lost', key, sender, id, attempt });
    ended(run, 'failure');
  }

  #judge(
    run: HandlerRun,
    thrown: unknown,
    { isOverdue = false, isOfDelivery = false, lacksKey = false }: FailureFacts,
  ): Failure {
    const { outages, settings, random, wallMs } = this.#parts;
    const { isUnrecoverable, delayMs } = retryInstructionOf(thrown);
    const { retry } = settings();
    const { countedAttempts } = run;
    let inOutageMs: number | undefined;
    if (isUnrecoverable || isOfDelivery) {
      // The failure concerns this delivery alone.
      outages.wasInconclusive(run.ref);
      if (isUnrecoverable) return this.#last(run);
    } else {
      inOutageMs = outages.failed({
        ...{ delivery: run.ref, countedAttempts, isOverdue },
        error: errorMessageOf(thrown),
      });
    }
    const uncountedMs = inOutageMs ?? (lacksKey ? this.#keyDelayMs(run) : undefined);
    const isCounted = uncountedMs === undefined;
    if (isCounted && countedAttempts >= retry.attempts) return this.#last(run);
    const retryInMs = delayMs ?? uncountedMs ?? retryDelayMs(countedAttempts, retry, random);
    const as = isCounted ? 'failed' : 'released';
    return { as, retryInMs, retryAtMs: wallMs() + retryInMs, isRepeated: false };
  }

  #keyDelayMs({ claimed }: HandlerRun): number | undefined {
    const { settings, random, wallMs } = this.#parts;
    return missingKeyDelayMs(wallMs() - claimed.receivedAtMs, settings().retry, random);
  }

  /**
   * After the last attempt a delivery moves to the dead-letter queue. If that is full, the delivery stays unfinished, and
   * its last attempt is repeated after the longest delay: the inbox fills up and refuses deliveries, but loses none.
   */
  #last({ bytes }: HandlerRun): Failure {
    const { finished, settings, wallMs } = this.#parts;
    if (finished.canShelve(bytes)) return { as: 'dead' };
    const retryInMs = Math.max(LEAST_REPEAT_MS, settings().retry.maxDelayMs);
    return { as: 'failed', retryInMs, retryAtMs: wallMs() + retryInMs, isRepeated: true };
  }

  async #fail(run: HandlerRun, error: string, tookMs: number, failure: Failure): Promise<void> {
    const { report, level, inboxRate, now, onDead, encryption, ended, relieved } = this.#parts;
    const { key, sender, id, attempt } = run.claimed;
    const attempted = { key, sender, id, attempt, tookMs };
    const isDead = failure.as === 'dead';
    if (!(await this.#settle(run, settlementOf(run, error, failure)))) return;
    inboxRate.note(isDead, now());
    report.totals.failed += 1;
    if (failure.as === 'dead') {
      level.remove({ key, bytes: run.bytes });
      report.totals.dead += 1;
      report.emit({ type: 'dead', ...attempted, error });
      callOnDead(onDead, run.claimed, error, encryption);
    } else {
      const { retryInMs, as, isRepeated } = failure;
      if (isRepeated) {
        report.totals.shelfFull += 1;
        report.emit({ type: 'shelf-full', ...attempted, error, retryInMs });
      } else {
        report.emit({ type: 'failed', ...attempted, error, retryInMs, isCounted: as === 'failed' });
      }
    }
    ended(run, 'failure');
    if (isDead) relieved();
  }

  /** Stores the result, however long that takes. Returns false when another process had taken over the claim. */
  async #settle(run: HandlerRun, settlement: Settlement): Promise<boolean> {
    const { health, finished, isOpen, settling, ended } = this.#parts;
    const confirmRoom = finished.expect(settlement, run.bytes);
    run.state = 'settling';
    settling(run);
    for (;;) {
      await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlement);
        health.worked();
        confirmRoom(isHeld);
        if (isHeld) return true;
        this.lose(run);
        return false;
      } catch (error) {
        health.failed('settle', error);
        // While closing there is one try: the claim ends when the store closes, or when the lease runs out.
        if (!isOpen()) {
          confirmRoom(false);
          ended(run, 'failure');
          return false;
        }
      }
    }
  }
}

function settlementOf(run: HandlerRun, error: string, failure: Failure): Settlement {
  const { ref } = run;
  if (failure.as === 'dead') return { ...ref, as: 'dead', error };
  const { as, retryAtMs, isRepeated } = failure;
  return as === 'failed' ? { ...ref, as, retryAtMs, error, isRepeated } : { ...ref, as, retryAtMs };
}

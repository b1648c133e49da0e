import { GroupCommit } from '../keeping/group-commit.ts';
import type { Downstream } from './downstream.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { InboxStore, Settlement } from '../store/inbox-store.ts';
import type { Level } from '../keeping/level.ts';
import type { Pace } from '../keeping/pace.ts';
import { retryDelayMs } from './retry-delay.ts';
import { wishOf } from '../delivery/retry-errors.ts';
import type { Run } from './run.ts';
import type { Sealing } from '../settings/sealing.ts';
import { messageOf, type StoreHealth } from '../keeping/store-health.ts';
import type { Storeroom } from '../keeping/storeroom.ts';
import { tellDead } from './tell-dead.ts';

/** What the endings work with. */
export interface EndingParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly settings: () => InboxSettings;
  readonly level: Level;
  readonly pace: Pace;
  readonly room: Storeroom;
  readonly report: InboxReport;
  readonly downstream: Downstream;
  readonly onDead: InboxOptions['onDead'];
  readonly sealing: Sealing;
  /** Whether the store is asked again when it fails. */
  readonly isOpen: () => boolean;
  /** Its end is about to be stored: it has no deadline any more. */
  readonly settling: (run: Run) => void;
  /** It is over: its worker is free. */
  readonly ended: (run: Run, outcome: 'success' | 'failure') => void;
  /** Something is finished: the level has fallen. */
  readonly relieved: () => void;
}

/** The last attempt is made again no sooner than after this, while the shelf is full. */
const LEAST_REPEAT_MS = 1000;

/** What is known of a failure beside what was thrown. */
interface FailureFacts {
  /** Its handler took longer than `maxHandlingMs`. */
  readonly isOverdue?: boolean;
  /** Its handler has not begun: the delivery could not be decrypted. */
  readonly isOfDelivery?: boolean;
}

/** How an attempt has failed. */
type Failure =
  | { readonly as: 'dead' }
  | {
      readonly as: 'failed' | 'released';
      readonly retryInMs: number;
      readonly retryAtMs: number;
      /** It was the last attempt, and is made again since the shelf is full. */
      readonly isRepeated: boolean;
    };

/** How attempts end: each is stored, reported, and its worker then given back. */
export class Endings {
  readonly #parts: EndingParts;
  readonly #settlements: GroupCommit<Settlement, boolean>;

  constructor(parts: EndingParts) {
    this.#parts = parts;
    this.#settlements = new GroupCommit((batch) => parts.store.settle(batch, parts.wallMs()));
  }

  get isStoring(): boolean {
    return this.#settlements.isBusy;
  }

  async complete(run: Run): Promise<void> {
    const { report, level, room, pace, now, downstream, ended, relieved } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const tookMs = now() - run.startedAtMs;
    run.isMade = true;
    downstream.succeeded(run.ref);
    const keep = room.canKeep(run.bytes);
    if (!(await this.#settle(run, { ...run.ref, as: 'completed', keep }))) return;
    pace.note(true, now());
    level.remove({ key, bytes: run.bytes });
    report.totals.completed += 1;
    report.emit({ type: 'completed', key, id, attempt, tookMs });
    ended(run, 'success');
    relieved();
  }

  /** An attempt has failed with what the handler has thrown. */
  async fail(run: Run, thrown: unknown, what: FailureFacts = {}): Promise<void> {
    const error = messageOf(thrown);
    run.isMade = true;
    await this.#fail(run, error, this.#judge(run, thrown, what));
  }

  /** No attempt is left, and none is made. */
  async bury(run: Run, error: string): Promise<void> {
    run.isMade = true;
    await this.#fail(run, error, this.#last(run));
  }

  async giveBack(run: Run): Promise<void> {
    const { report, ended } = this.#parts;
    const { key, id, attempt } = run.claimed;
    if (!(await this.#settle(run, { ...run.ref, as: 'released' }))) return;
    report.emit({ type: 'released', key, id, attempt });
    ended(run, 'failure');
  }

  /** Another process has taken it over. */
  lose(run: Run): void {
    const { report, ended } = this.#parts;
    const { key, id, attempt } = run.claimed;
    report.totals.lost += 1;
    report.emit({ type: 'lost', key, id, attempt });
    ended(run, 'failure');
  }

  #judge(run: Run, thrown: unknown, { isOverdue = false, isOfDelivery = false }: FailureFacts): Failure {
    const { downstream, settings, random, wallMs } = this.#parts;
    const { isUnrecoverable, delayMs } = wishOf(thrown);
    const { retry } = settings();
    const { countedAttempts } = run;
    let inOutageMs: number | undefined;
    if (isUnrecoverable || isOfDelivery) {
      // It says something of its delivery, and nothing of the downstream.
      downstream.saidNothing(run.ref);
      if (isUnrecoverable) return this.#last(run);
    } else {
      inOutageMs = downstream.failed({
        ...{ delivery: run.ref, countedAttempts, isOverdue },
        error: messageOf(thrown),
      });
    }
    const isCounted = inOutageMs === undefined;
    if (isCounted && countedAttempts >= retry.attempts) return this.#last(run);
    const retryInMs = delayMs ?? inOutageMs ?? retryDelayMs(countedAttempts, retry, random);
    const as = isCounted ? 'failed' : 'released';
    return { as, retryInMs, retryAtMs: wallMs() + retryInMs, isRepeated: false };
  }

  /**
   * After the last attempt a delivery goes to the shelf. Where the shelf is full it stays unfinished, and its last
   * attempt is made again after the longest delay: so the inbox fills, and refuses senders, but loses nothing.
   */
  #last({ bytes }: Run): Failure {
    const { room, settings, wallMs } = this.#parts;
    if (room.canShelve(bytes)) return { as: 'dead' };
    const retryInMs = Math.max(LEAST_REPEAT_MS, settings().retry.maxDelayMs);
    return { as: 'failed', retryInMs, retryAtMs: wallMs() + retryInMs, isRepeated: true };
  }

  async #fail(run: Run, error: string, failure: Failure): Promise<void> {
    const { report, level, pace, now, onDead, sealing, ended, relieved } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const isDead = failure.as === 'dead';
    if (!(await this.#settle(run, settlementOf(run, error, failure)))) return;
    pace.note(isDead, now());
    report.totals.failed += 1;
    if (failure.as === 'dead') {
      level.remove({ key, bytes: run.bytes });
      report.totals.dead += 1;
      report.emit({ type: 'dead', key, id, attempt, error });
      tellDead(onDead, run.claimed, error, sealing);
    } else {
      const { retryInMs, as, isRepeated } = failure;
      if (isRepeated) {
        report.totals.shelfFull += 1;
        report.emit({ type: 'shelf-full', key, id, attempt, error, retryInMs });
      } else {
        report.emit({ type: 'failed', key, id, attempt, error, retryInMs, isCounted: as === 'failed' });
      }
    }
    ended(run, 'failure');
    if (isDead) relieved();
  }

  /** Stores how a run ends, however long that takes. False when its claim was another's by then. */
  async #settle(run: Run, settlement: Settlement): Promise<boolean> {
    const { health, room, isOpen, settling, ended } = this.#parts;
    const hasTakenPlace = room.expect(settlement, run.bytes);
    run.state = 'settling';
    settling(run);
    for (;;) {
      await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlement);
        health.worked();
        hasTakenPlace(isHeld);
        if (isHeld) return true;
        this.lose(run);
        return false;
      } catch (error) {
        health.failed('settle', error);
        // Closing, there is one try: the store gives back what is claimed when it closes, or when the lease ends.
        if (!isOpen()) {
          hasTakenPlace(false);
          ended(run, 'failure');
          return false;
        }
      }
    }
  }
}

function settlementOf(run: Run, error: string, failure: Failure): Settlement {
  const { ref } = run;
  if (failure.as === 'dead') return { ...ref, as: 'dead', error };
  const { as, retryAtMs, isRepeated } = failure;
  return as === 'failed' ? { ...ref, as, retryAtMs, error, isRepeated } : { ...ref, as, retryAtMs };
}

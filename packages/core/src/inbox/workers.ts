import { Deadlines } from '../deadlines.ts';
import type { Intake } from '../intake.ts';
import type { Permit } from '../place.ts';
import type { Refusal } from '../refusal.ts';
import { Claims, LEASE_MS, type ClaimParts, type Claimants } from './claims.ts';
import type { Task } from './agenda.ts';
import { failedAttempt } from './failed-attempt.ts';
import { GroupCommit } from './group-commit.ts';
import { inboxDelivery } from './inbox-delivery.ts';
import type { InboxOptions } from './inbox-options.ts';
import type { InboxReport } from './inbox-report.ts';
import type { InboxFixtures, InboxSettings } from './inbox-settings.ts';
import { storedBytes, type ClaimedDelivery, type Settlement } from './inbox-store.ts';
import type { Level } from './level.ts';
import { tell } from './onlooker.ts';
import type { Pace } from './pace.ts';
import { Run } from './run.ts';
import { messageOf } from './store-health.ts';
import type { Storeroom } from './storeroom.ts';

const RENEW_MS = LEASE_MS / 3;

/** What the workers work with. */
export interface WorkerParts extends ClaimParts {
  readonly intake: Intake;
  readonly fixtures: InboxFixtures;
  readonly settings: () => InboxSettings;
  readonly level: Level;
  readonly room: Storeroom;
  readonly pace: Pace;
  readonly report: InboxReport;
  readonly process: InboxOptions['process'];
  readonly onDead: InboxOptions['onDead'];
  /** Something is finished: the level has fallen. */
  readonly relieved: () => void;
}

/** Works deliveries off: each claimed, handled, and settled in the store before its worker takes the next. */
export class Workers implements Claimants {
  readonly runs: Set<Run> = new Set<Run>();
  readonly claims: Claims;
  isOpen = false;
  readonly #parts: WorkerParts;
  readonly #deadlines: Deadlines<Run>;
  readonly #settlements: GroupCommit<Settlement, boolean>;
  readonly #renewal: Task;
  #onIdle: (() => void) | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.claims = new Claims(parts, this);
    this.#deadlines = new Deadlines<Run>(parts.fixtures.clock, parts.now, this.#expire, () => undefined);
    this.#settlements = new GroupCommit((batch) => parts.store.settle(batch, parts.wallMs()));
    this.#renewal = parts.agenda.task(() => void this.#renew());
  }

  /** Handlers that run. */
  get active(): number {
    let active = 0;
    for (const { state } of this.runs) if (state === 'running') active += 1;
    return active;
  }

  get isStoring(): boolean {
    return this.#settlements.isBusy;
  }

  free(): number {
    return this.isOpen ? this.#parts.intake.snapshot().concurrency - this.runs.size : 0;
  }

  mayTakeStranded(): boolean {
    for (const { claimed } of this.runs) if (claimed.strandings > 0) return false;
    return true;
  }

  begin(claimed: ClaimedDelivery): void {
    const run = new Run(claimed, storedBytes(claimed));
    this.runs.add(run);
    if (this.runs.size === 1) {
      this.#renewal.set(this.#parts.now() + RENEW_MS);
      this.#parts.pace.resume(this.#parts.now());
    }
    const { attempts } = this.#parts.settings().retry;
    if (!this.isOpen) {
      void this.#giveBack(run);
    } else if (run.countedAttempts > attempts) {
      const error = `The process ended during the last of ${String(run.countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
      void this.#fail(run, error);
    } else {
      this.#admit(run);
    }
  }

  /** Resolves when nothing is claimed any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#lookIdle();
    });
  }

  /** Starts nothing more; what waits for its start is given back. */
  stopStarting(): void {
    this.isOpen = false;
    for (const run of [...this.runs]) if (run.state === 'waiting') void this.#giveBack(run);
  }

  /** Ends what still runs: handlers are told, and deliveries given back. What has ended by itself is stored as such. */
  async abandon(): Promise<void> {
    this.#deadlines.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.abort('The inbox closes.');
    await Promise.all(running.map((run) => this.#giveBack(run)));
    // A store that is not to be asked now is not waited for.
    if (!this.#parts.health.isResting) await this.idle();
  }

  #admit(run: Run): void {
    const { key } = run.claimed;
    const place = this.#parts.intake.admit({ key });
    if (!place.admitted) {
      void this.#giveBack(run);
      return;
    }
    run.place = place;
    const { permit } = place;
    if (permit instanceof Promise) void permit.then((result) => this.#start(run, result));
    else void this.#start(run, permit);
  }

  async #start(run: Run, permit: Permit | Refusal): Promise<void> {
    if (run.state !== 'waiting') {
      if (permit.admitted) permit.release('failure');
      return;
    }
    if (!permit.admitted) {
      await this.#giveBack(run);
      return;
    }
    const { report, now, wallMs, settings, process } = this.#parts;
    const { key, id, attempt, receivedAtMs } = run.claimed;
    run.permit = permit;
    run.state = 'running';
    run.startedAtMs = now();
    this.#deadlines.set(run, run.startedAtMs + settings().intake.maxHandlingMs, run.startedAtMs);
    report.totals.started += 1;
    report.emit({ type: 'started', key, id, attempt, waitedMs: Math.max(0, wallMs() - receivedAtMs) });
    let failure: { readonly error: unknown } | undefined;
    try {
      await process(inboxDelivery(run.claimed), {
        attempt,
        get signal() {
          return run.signal;
        },
      });
    } catch (error) {
      failure = { error };
    }
    // Meanwhile it may have become overdue, or its claim may have been lost or given back.
    if (!this.#isRunning(run)) return;
    if (failure === undefined) await this.#complete(run);
    else await this.#fail(run, messageOf(failure.error));
  }

  #isRunning({ state }: Run): boolean {
    return state === 'running';
  }

  async #complete(run: Run): Promise<void> {
    const { report, level, room, pace, now, relieved } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const tookMs = now() - run.startedAtMs;
    const keep = room.canKeep(run.bytes);
    if (!(await this.#settle(run, { ...run.ref, as: 'completed', keep }))) return;
    pace.note(true, now());
    level.remove({ key, bytes: run.bytes });
    report.totals.completed += 1;
    report.emit({ type: 'completed', key, id, attempt, tookMs });
    this.#end(run, 'success');
    relieved();
  }

  async #fail(run: Run, error: string): Promise<void> {
    const { report, level, room, pace, now, wallMs, settings, fixtures, onDead, relieved } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const end = failedAttempt(run, error, {
      retry: settings().retry,
      random: fixtures.random,
      nowMs: wallMs(),
      room,
    });
    const { isDead, retryInMs } = end;
    if (!(await this.#settle(run, end.settlement))) return;
    pace.note(isDead, now());
    report.totals.failed += 1;
    if (isDead) {
      level.remove({ key, bytes: run.bytes });
      report.totals.dead += 1;
      report.emit({ type: 'dead', key, id, attempt, error });
      tell(() => onDead?.(inboxDelivery(run.claimed), error));
    } else if (end.isRepeated) {
      report.totals.shelfFull += 1;
      report.emit({ type: 'shelf-full', key, id, attempt, error, retryInMs });
    } else {
      report.emit({ type: 'failed', key, id, attempt, error, retryInMs });
    }
    this.#end(run, 'failure');
    if (isDead) relieved();
  }

  async #giveBack(run: Run): Promise<void> {
    const { report } = this.#parts;
    const { key, id, attempt } = run.claimed;
    if (!(await this.#settle(run, { ...run.ref, as: 'released' }))) return;
    report.emit({ type: 'released', key, id, attempt });
    this.#end(run, 'failure');
  }

  /** Stores how a run ends, however long that takes. False when its claim was another's by then. */
  async #settle(run: Run, settlement: Settlement): Promise<boolean> {
    const { health, room } = this.#parts;
    const undo = room.expect(settlement, run.bytes);
    run.state = 'settling';
    this.#deadlines.clear(run);
    for (;;) {
      await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlement);
        health.worked();
        if (isHeld) return true;
        undo();
        this.#lose(run);
        return false;
      } catch (error) {
        health.failed('settle', error);
        // Closing, there is one try: the store gives back what is claimed when it closes, or when the lease ends.
        if (!this.isOpen) {
          undo();
          this.#end(run, 'failure');
          return false;
        }
      }
    }
  }

  #lose(run: Run): void {
    const { key, id, attempt } = run.claimed;
    this.#parts.report.totals.lost += 1;
    this.#parts.report.emit({ type: 'lost', key, id, attempt });
    this.#end(run, 'failure');
  }

  #end(run: Run, outcome: 'success' | 'failure'): void {
    if (!this.runs.delete(run)) return;
    run.end(outcome);
    if (this.runs.size === 0) this.#renewal.clear();
    this.claims.look();
    this.#lookIdle();
  }

  #lookIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }

  readonly #expire = (run: Run): void => {
    if (run.state !== 'running') return;
    const { report, settings } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const why = `The handler took longer than ${String(settings().intake.maxHandlingMs)} ms.`;
    report.totals.overdue += 1;
    report.emit({ type: 'overdue', key, id, attempt });
    const failing = this.#fail(run, why);
    run.abort(why);
    void failing;
  };

  async #renew(): Promise<void> {
    const { store, health, now, wallMs } = this.#parts;
    this.#renewal.set(now() + RENEW_MS);
    const held = [...this.runs].filter(({ state }) => state !== 'over');
    try {
      const results = await store.renew(
        held.map(({ ref }) => ref),
        { leaseMs: LEASE_MS, nowMs: wallMs() },
      );
      for (const [at, run] of held.entries()) {
        // What is being settled may have been settled by now, and is no longer held for that reason.
        if (results[at] === true || run.state === 'settling' || run.state === 'over') continue;
        this.#deadlines.clear(run);
        run.abort('Another process has taken the delivery over.');
        this.#lose(run);
      }
    } catch (error) {
      health.failed('renew', error);
    }
  }
}

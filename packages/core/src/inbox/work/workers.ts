import { Deadlines } from '../../time/deadlines.ts';
import type { Intake } from '../../intake/intake.ts';
import { workersPerKey } from '../../limits/limits.ts';
import type { Permit } from '../../delivery/admission.ts';
import type { Refusal } from '../../delivery/refusal.ts';
import { Claims, type ClaimParts, type Claimants, type Room } from './claims.ts';
import { Downstream, type Allowance } from './downstream.ts';
import { Endings } from './endings.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxFixtures, InboxSettings } from '../settings/inbox-settings.ts';
import { storedBytes, type ClaimedDelivery } from '../store/inbox-store.ts';
import { KeyLoad } from './key-load.ts';
import type { Level } from '../keeping/level.ts';
import type { Pace } from '../keeping/pace.ts';
import { Renewals } from './renewals.ts';
import { Run } from './run.ts';
import type { Storeroom } from '../keeping/storeroom.ts';
import { Suspects } from './suspects.ts';

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

/** Processes deliveries: each is claimed, handled, and settled in the store before its worker takes the next. */
export class Workers implements Claimants {
  readonly runs: Set<Run> = new Set<Run>();
  readonly claims: Claims;
  readonly downstream: Downstream;
  isOpen = false;
  readonly #parts: WorkerParts;
  readonly #deadlines: Deadlines<Run>;
  readonly #endings: Endings;
  readonly #renewals: Renewals;
  readonly #load = new KeyLoad();
  readonly #suspects = new Suspects();
  #allowance: Allowance | undefined;
  #onIdle: (() => void) | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { fixtures, now, report } = parts;
    this.claims = new Claims(parts, this);
    this.#deadlines = new Deadlines<Run>(fixtures.clock, now, this.#expire, () => undefined);
    this.downstream = new Downstream({
      ...{ now, random: fixtures.random, report, load: this.#load },
      failing: (key) => {
        this.giveBackWaiting(key);
      },
    });
    this.#endings = new Endings({
      ...parts,
      ...{ random: fixtures.random, sealing: fixtures.sealing, downstream: this.downstream },
      isOpen: () => this.isOpen,
      settling: (run) => {
        this.#deadlines.clear(run);
      },
      ended: this.#end,
    });
    this.#renewals = new Renewals({ ...parts, runs: this.runs, lost: this.#lose });
  }

  /** Handlers that run. */
  get active(): number {
    let active = 0;
    for (const { state } of this.runs) if (state === 'running') active += 1;
    return active;
  }

  get isStoring(): boolean {
    return this.#endings.isStoring;
  }

  room(isIdle: boolean): Room {
    const workers = this.#parts.intake.snapshot().concurrency;
    const allowance = this.downstream.allow(this.runs.size, workers, isIdle);
    this.#allowance = allowance;
    const { settings } = this.#parts;
    const except = new Set(allowance.except);
    const free = this.isOpen ? workers - this.runs.size : 0;
    let { perKey } = allowance;
    const most = workersPerKey(settings().intake, workers);
    if (most < Infinity) {
      // A store is told which keys to pass over, and not how many of a key to give: so it is asked for no more at a time
      // than the key with the least room has.
      perKey = Math.min(perKey, most);
      for (const [key, count] of this.#load.entries()) {
        if (count >= most) except.add(key);
        else perKey = Math.min(perKey, most - count);
      }
    }
    const count = Math.min(free, allowance.count, perKey);
    const maxStranded = Math.min(count, this.#suspects.room(settings().retry.attempts));
    return { count, maxStranded, except, againAtMs: this.isOpen ? allowance.againAtMs : Infinity };
  }

  answered(claimed: readonly ClaimedDelivery[], { maxStranded, count }: Room, isIdle: boolean): boolean {
    this.#suspects.claimed(maxStranded, claimed.filter(({ strandings }) => strandings > 0).length);
    if (claimed.length === count || this.#allowance === undefined) return false;
    return this.downstream.cameShort(this.#allowance, isIdle);
  }

  begin(claimed: ClaimedDelivery): void {
    const run = new Run(claimed, storedBytes(claimed));
    this.runs.add(run);
    this.#load.add(claimed.key);
    if (run.isSuspect) this.#suspects.began();
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.#parts.pace.resume(this.#parts.now());
    }
    const { attempts } = this.#parts.settings().retry;
    if (!this.isOpen) {
      void this.#endings.giveBack(run);
    } else if (run.countedAttempts > attempts) {
      const error = `The process ended during the last of ${String(run.countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
      void this.#endings.bury(run, error);
    } else {
      run.startedAtMs = this.#parts.now();
      run.isProbe = this.downstream.began(claimed.key);
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
    this.giveBackWaiting(null);
  }

  /** Gives back what waits for its start: of a key, or with null of any. */
  giveBackWaiting(key: string | null): void {
    for (const run of [...this.runs]) {
      const isMeant = key === null || run.claimed.key === key;
      if (isMeant && run.state === 'waiting') void this.#endings.giveBack(run);
    }
  }

  /** Ends what still runs: handlers are told, and deliveries given back. What has ended by itself is stored as such. */
  async abandon(): Promise<void> {
    this.#deadlines.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.abort('The inbox closes.');
    await Promise.all(running.map((run) => this.#endings.giveBack(run)));
    // A store that is not to be asked now is not waited for.
    if (!this.#parts.health.isResting) await this.idle();
  }

  #admit(run: Run): void {
    const { key } = run.claimed;
    const place = this.#parts.intake.admit({ key });
    if (!place.admitted) {
      void this.#endings.giveBack(run);
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
      await this.#endings.giveBack(run);
      return;
    }
    const { report, now, settings, process, fixtures } = this.#parts;
    const { key, id, attempt, receivedAtMs } = run.claimed;
    run.permit = permit;
    run.state = 'running';
    run.startedAtMs = now();
    this.#deadlines.set(run, run.startedAtMs + settings().intake.maxHandlingMs, run.startedAtMs);
    report.totals.started += 1;
    report.emit({
      type: 'started',
      key,
      id,
      attempt,
      waitedMs: Math.max(0, fixtures.wallClock() - receivedAtMs),
    });
    let failure: { readonly error: unknown } | undefined;
    let isMade = false;
    try {
      const opening = fixtures.sealing.open(run.claimed);
      const opened = opening instanceof Promise ? await opening : opening;
      if (!this.#isRunning(run)) return;
      isMade = true;
      await process(inboxDelivery(opened), {
        attempt,
        get signal() {
          return run.signal;
        },
      });
    } catch (error) {
      failure = { error };
      report.processFailed(error);
    }
    // Meanwhile it may have become overdue, or its claim may have been lost or given back.
    if (!this.#isRunning(run)) return;
    if (failure === undefined) await this.#endings.complete(run);
    // What cannot be decrypted says nothing of what the handler depends on.
    else await this.#endings.fail(run, failure.error, { isOfDelivery: !isMade });
  }

  #isRunning({ state }: Run): boolean {
    return state === 'running';
  }

  readonly #end = (run: Run, outcome: 'success' | 'failure'): void => {
    if (!this.runs.delete(run)) return;
    this.#load.remove(run.claimed.key);
    if (run.isSuspect) this.#suspects.ended(run.isMade);
    if (run.isProbe) this.downstream.probeEnded(this.#parts.now() - run.startedAtMs);
    run.end(outcome);
    if (this.runs.size === 0) this.#renewals.end();
    this.claims.look();
    this.#lookIdle();
  };

  readonly #lose = (run: Run): void => {
    this.#deadlines.clear(run);
    run.abort('Another process has taken the delivery over.');
    this.#endings.lose(run);
  };

  readonly #expire = (run: Run): void => {
    if (run.state !== 'running') return;
    const { report, settings } = this.#parts;
    const { key, id, attempt } = run.claimed;
    const why = `The handler took longer than ${String(settings().intake.maxHandlingMs)} ms.`;
    report.totals.overdue += 1;
    report.emit({ type: 'overdue', key, id, attempt });
    const failing = this.#endings.fail(run, why, { isOverdue: true });
    run.abort(why);
    void failing;
  };

  #lookIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}

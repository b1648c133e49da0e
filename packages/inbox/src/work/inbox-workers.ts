import { Deadlines, glanceAt } from '@webhook-backpressure/base';
import type { Intake, Permit, Refusal } from '@webhook-backpressure/core';
import { workersPerKey } from '@webhook-backpressure/core/extend';
import { Claimer, type ClaimParts, type ClaimingWorkers, type ClaimLimits } from './claimer.ts';
import { Outages, type Allowance } from './outages.ts';
import { RunSettler } from './run-settler.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { InboxFixtures, InboxSettings } from '../options/inbox-settings.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { KeyLoad } from './key-load.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { InboxDrainRate } from '../capacity/inbox-drain-rate.ts';
import { LeaseRenewal } from './lease-renewal.ts';
import { HandlerRun } from './handler-run.ts';
import type { FinishedUsage } from '../capacity/finished-usage.ts';
import { CrashSuspects } from './crash-suspects.ts';

export interface InboxWorkerParts extends ClaimParts {
  readonly intake: Intake;
  readonly fixtures: InboxFixtures;
  readonly settings: () => InboxSettings;
  readonly level: FillLevel;
  readonly finished: FinishedUsage;
  readonly inboxRate: InboxDrainRate;
  readonly report: InboxReport;
  readonly process: InboxOptions['process'];
  readonly onDead: InboxOptions['onDead'];
  /** Called when a delivery is finished, so that the level has fallen. */
  readonly relieved: () => void;
}

/** Processes deliveries: claims each, runs its handler, and settles it in the store before its worker takes the next. */
export class InboxWorkers implements ClaimingWorkers {
  readonly runs: Set<HandlerRun> = new Set<HandlerRun>();
  readonly claimer: Claimer;
  readonly outages: Outages;
  isOpen = false;
  readonly #parts: InboxWorkerParts;
  readonly #deadlines: Deadlines<HandlerRun>;
  readonly #settler: RunSettler;
  readonly #renewals: LeaseRenewal<HandlerRun>;
  readonly #load = new KeyLoad();
  readonly #suspects = new CrashSuspects();
  #allowance: Allowance | undefined;
  #onIdle: (() => void) | undefined;

  constructor(parts: InboxWorkerParts) {
    this.#parts = parts;
    const { fixtures, now, report } = parts;
    this.claimer = new Claimer(parts, this);
    this.#deadlines = new Deadlines<HandlerRun>(fixtures.clock, now, this.#expire, () => undefined);
    this.outages = new Outages({
      ...{ now, random: fixtures.random, report, load: this.#load },
      failing: (key) => {
        this.giveBackWaiting(key);
      },
    });
    this.#settler = new RunSettler({
      ...parts,
      ...{ random: fixtures.random, encryption: fixtures.encryption, outages: this.outages },
      isOpen: () => this.isOpen,
      settling: (run) => {
        this.#deadlines.clear(run);
      },
      ended: this.#end,
    });
    this.#renewals = new LeaseRenewal({ ...parts, runs: this.runs, lost: this.#lose });
  }

  /** How many handlers run. */
  get active(): number {
    let active = 0;
    for (const { state } of this.runs) if (state === 'running') active += 1;
    return active;
  }

  get isStoring(): boolean {
    return this.#settler.isStoring;
  }

  limits(isIdle: boolean): ClaimLimits {
    const workers = glanceAt(this.#parts.intake).concurrency;
    const allowance = this.outages.allow(this.runs.size, workers, isIdle);
    this.#allowance = allowance;
    const { settings } = this.#parts;
    const except = new Set(allowance.except);
    const free = this.isOpen ? workers - this.runs.size : 0;
    let { perKey } = allowance;
    const most = workersPerKey(settings(), workers);
    if (most < Infinity) {
      // A claim can skip keys but not limit each one, so it asks for no more than the key with the least room may have.
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

  claimed(
    claimed: readonly ClaimedDelivery[],
    { maxStranded, count }: ClaimLimits,
    isIdle: boolean,
  ): boolean {
    this.#suspects.claimed(maxStranded, claimed.filter(({ strandings }) => strandings > 0).length);
    if (claimed.length === count || this.#allowance === undefined) return false;
    return this.outages.cameShort(this.#allowance, isIdle);
  }

  begin(claimed: ClaimedDelivery): void {
    const run = new HandlerRun(claimed, storedBytes(claimed));
    this.runs.add(run);
    this.#load.add(claimed.key);
    if (run.isSuspect) this.#suspects.began();
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.#parts.inboxRate.resume(this.#parts.now());
    }
    const { attempts } = this.#parts.settings().retry;
    if (!this.isOpen) {
      void this.#settler.giveBack(run);
    } else if (run.countedAttempts > attempts) {
      const error = `The process ended during the last of ${String(run.countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
      void this.#settler.failLast(run, error);
    } else {
      run.startedAtMs = this.#parts.now();
      run.isProbe = this.outages.began(claimed.key);
      this.#admit(run);
    }
  }

  /** Resolves when no delivery is claimed any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
  }

  /** Starts no more handlers, and gives waiting deliveries back. */
  stopStarting(): void {
    this.isOpen = false;
    this.giveBackWaiting(null);
  }

  /** Gives back claimed deliveries that wait for their start: of a key, or with null all. */
  giveBackWaiting(key: string | null): void {
    for (const run of [...this.runs]) {
      const isMeant = key === null || run.claimed.key === key;
      if (isMeant && run.state === 'waiting') void this.#settler.giveBack(run);
    }
  }

  /** Aborts running handlers and gives their deliveries back. Runs that are settling are stored. */
  async abandon(): Promise<void> {
    this.#deadlines.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.abort('The inbox closes.');
    await Promise.all(running.map((run) => this.#settler.giveBack(run)));
    // Do not wait for a store that is failing.
    if (!this.#parts.health.isResting) await this.idle();
  }

  #admit(run: HandlerRun): void {
    const { key } = run.claimed;
    const admission = this.#parts.intake.admit({ key });
    if (!admission.admitted) {
      void this.#settler.giveBack(run);
      return;
    }
    run.admission = admission;
    const { permit } = admission;
    if (permit instanceof Promise) void permit.then((result) => this.#start(run, result));
    else void this.#start(run, permit);
  }

  async #start(run: HandlerRun, permit: Permit | Refusal): Promise<void> {
    if (run.state !== 'waiting') {
      if (permit.admitted) permit.release('failure');
      return;
    }
    if (!permit.admitted) {
      await this.#settler.giveBack(run);
      return;
    }
    const { report, now, settings, process, fixtures } = this.#parts;
    const { key, sender, id, attempt, receivedAtMs } = run.claimed;
    run.permit = permit;
    run.state = 'running';
    run.startedAtMs = now();
    this.#deadlines.set(run, run.startedAtMs + settings().maxHandlingMs, run.startedAtMs);
    report.totals.started += 1;
    report.emit({
      type: 'started',
      key,
      sender,
      id,
      attempt,
      waitedMs: Math.max(0, fixtures.wallClock() - receivedAtMs),
    });
    let failure: { readonly error: unknown } | undefined;
    let isMade = false;
    try {
      const opening = fixtures.encryption.decrypt(run.claimed);
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
    // Meanwhile the run may have become overdue, or its claim may have been lost or given back.
    if (!this.#isRunning(run)) return;
    if (failure === undefined) await this.#settler.complete(run);
    else {
      const lacksKey = !fixtures.encryption.hasKeyOf(run.claimed);
      // A delivery that cannot be decrypted is no evidence of an outage.
      await this.#settler.fail(run, failure.error, { isOfDelivery: !isMade, lacksKey });
    }
  }

  #isRunning({ state }: HandlerRun): boolean {
    return state === 'running';
  }

  readonly #end = (run: HandlerRun, outcome: 'success' | 'failure'): void => {
    if (!this.runs.delete(run)) return;
    this.#load.remove(run.claimed.key);
    if (run.isSuspect) this.#suspects.ended(run.isMade);
    if (run.isProbe) this.outages.probeEnded(this.#parts.now() - run.startedAtMs);
    run.end(outcome);
    if (this.runs.size === 0) this.#renewals.end();
    this.claimer.wake();
    this.#checkIdle();
  };

  readonly #lose = (run: HandlerRun): void => {
    this.#deadlines.clear(run);
    run.abort('Another process has taken the delivery over.');
    this.#settler.lose(run);
  };

  readonly #expire = (run: HandlerRun): void => {
    if (run.state !== 'running') return;
    const { report, settings } = this.#parts;
    const { key, sender, id, attempt } = run.claimed;
    const why = `The handler took longer than ${String(settings().maxHandlingMs)} ms.`;
    report.totals.overdue += 1;
    report.emit({ type: 'overdue', key, sender, id, attempt });
    const failing = this.#settler.fail(run, why, { isOverdue: true });
    run.abort(why);
    void failing;
  };

  #checkIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}

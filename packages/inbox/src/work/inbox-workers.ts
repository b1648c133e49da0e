import { inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { workersPerKey } from '@webhook-backpressure/core/extend';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Task } from '../time/scheduler.ts';
import { BatchCalls } from './batch-calls.ts';
import { CrashSuspects } from './crash-suspects.ts';
import { HandlerCalls, isOver } from './handler-calls.ts';
import { HandlerRun } from './handler-run.ts';
import { LEASE_MS, LeaseRenewal } from './lease-renewal.ts';
import { LookAhead } from './look-ahead.ts';
import { Outages } from './outages.ts';
import { RunSettler } from './run-settler.ts';
import { RunningHandlers } from './running-handlers.ts';
import { StartRules } from './start-rules.ts';

/** The delay of the next try when a due delivery cannot be claimed because another process blocks it. */
const RECHECK_MS = 1000;

type Processing = Pick<InboxOptions<never>, 'process' | 'processBatch' | 'coalesce' | 'onDead' | 'ttlMs'>;

/**
 * Processes deliveries: claims them as workers become free, runs their handlers, and settles each in the store before its
 * worker takes the next. One claim at a time, and none while nothing is due.
 */
export class InboxWorkers {
  readonly runs: Set<HandlerRun> = new Set<HandlerRun>();
  readonly handlers: RunningHandlers;
  readonly outages: Outages;
  readonly #inbox: InboxState;
  readonly #rules: StartRules;
  readonly #settler: RunSettler;
  readonly #renewals: LeaseRenewal<HandlerRun>;
  /** Undefined unless deliveries share workers. */
  readonly #ahead: LookAhead | undefined;
  readonly #suspects = new CrashSuspects();
  readonly #nextClaim: Task;
  #claiming: Promise<void> | undefined;
  #isClaimWanted = false;
  /** How many workers are used, or will be. */
  #taken = 0;
  #onIdle: (() => void) | undefined;

  constructor(inbox: InboxState, options: Processing) {
    const { process, processBatch, coalesce, onDead, ttlMs } = options;
    const { store, health, scheduler, now, wall } = inbox;
    this.#inbox = inbox;
    this.#rules = new StartRules(inbox, ttlMs);
    const begin = (run: HandlerRun): void => {
      inBackground(batches === undefined ? calls.handle(run) : batches.handle(run));
    };
    this.handlers = new RunningHandlers(inbox, begin, this.#overdue);
    inbox.ownRate = this.handlers;
    this.outages = new Outages(inbox, (key) => {
      this.giveBackWaiting(key);
    });
    const wake = (): void => {
      this.wake();
    };
    const settler = (this.#settler = new RunSettler(inbox, this.handlers, this.outages, onDead, this.#end));
    const calls = new HandlerCalls(inbox, process, this.#rules, settler);
    const batches = processBatch && new BatchCalls(inbox, calls, settler, processBatch, coalesce);
    if (processBatch !== undefined || coalesce !== undefined) {
      this.#ahead = new LookAhead({
        inbox,
        settler,
        outages: this.outages,
        handlers: this.handlers,
        hasBatches: processBatch !== undefined,
        coalesce,
        take: (claimed) => this.#begin(claimed, true),
        free: this.#free,
        wake,
      });
    }
    this.#renewals = new LeaseRenewal({
      store,
      health,
      scheduler,
      now,
      wallMs: () => wall.trustedMs(),
      runs: this.runs,
      lost: this.#lose,
    });
    this.#nextClaim = scheduler.task(wake);
  }

  /** How many handlers run. */
  get active(): number {
    let active = 0;
    for (const { state } of this.runs) if (state === 'running') active += 1;
    return active;
  }

  /** Whether results are being stored. */
  get isStoring(): boolean {
    return this.#settler.isStoring;
  }

  /** Claims, if a delivery is due and a worker free. Call it when one of them may have become so. */
  wake(): void {
    this.#isClaimWanted = true;
    this.#claiming ??= this.#claim();
  }

  /** Resolves when no claim is in progress. */
  async claimed(): Promise<void> {
    while (this.#claiming !== undefined) await this.#claiming;
  }

  /** Resolves when no delivery is claimed any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
  }

  /** Gives back claimed deliveries that wait for their start: of a key, or with null all. */
  giveBackWaiting(key: string | null): void {
    for (const run of [...this.runs]) {
      const isMeant = key === null || run.claimed.key === key;
      if (isMeant && run.state === 'waiting') this.#settler.giveBackSoon(run);
    }
  }

  /** Aborts running handlers and gives their deliveries back. Runs that are settling are stored. */
  async abandon(): Promise<void> {
    this.handlers.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.holder.abort('The inbox closes.');
    await Promise.all(running.map((run) => this.#settler.giveBack(run)));
    // Do not wait for a store that is failing.
    if (!this.#inbox.health.isResting) await this.idle();
  }

  get #isOpen(): boolean {
    return this.#inbox.phase === 'open' && this.#inbox.role !== 'receiver';
  }

  async #claim(): Promise<void> {
    const { health } = this.#inbox;
    while (this.#isClaimWanted) {
      this.#isClaimWanted = false;
      await health.rest();
      try {
        await this.#claimAll();
      } catch (error) {
        health.failed('claim', error);
        this.#isClaimWanted = this.#limits(false).count > 0;
      }
    }
    this.#claiming = undefined;
  }

  /** Claims until the limits are reached, or nothing is due. */
  async #claimAll(): Promise<void> {
    const { store, health, wall, now } = this.#inbox;
    for (let isIdle = false; ;) {
      await this.#ahead?.look();
      const { allowance, count, maxStranded, except } = this.#limits(isIdle);
      if (count <= 0) {
        if (this.#isOpen && allowance.againAtMs < Infinity) this.#nextClaim.set(allowance.againAtMs);
        return;
      }
      const nowMs = wall.trustedMs();
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs, maxStranded, except });
      const runs: HandlerRun[] = [];
      let stranded = 0;
      for (const one of claimed) {
        if (one.strandings > 0) stranded += 1;
        const run = this.#begin(one);
        if (run !== undefined) runs.push(run);
      }
      if (this.#ahead === undefined) for (const run of runs) this.handlers.add(run);
      else await this.#ahead.begin(runs);
      this.#suspects.claimed(maxStranded, stranded);
      if (claimed.length === count) {
        health.worked();
        continue;
      }
      const claimsAgain = this.outages.cameShort(allowance, isIdle);
      isIdle = true;
      if (claimsAgain) continue;
      // A store may return fewer than there are, because of `maxStranded`.
      const dueMs = await store.nextDueMs(except);
      health.worked();
      const inMs = dueMs === undefined ? Infinity : dueMs - wall.trustedMs();
      const againAtMs = Math.min(allowance.againAtMs, now() + (inMs > 0 ? inMs : RECHECK_MS));
      if (againAtMs < Infinity) this.#nextClaim.set(againAtMs);
      return;
    }
  }

  /**
   * What may be claimed now: 0 or less for nothing.
   *
   * @param isIdle - the last claim returned fewer deliveries than allowed.
   */
  #limits(isIdle: boolean) {
    const { settings } = this.#inbox;
    const workers = this.handlers.concurrency;
    const allowance = this.outages.allow(this.#taken, workers, isIdle);
    const except = new Set([...allowance.except, ...(this.#ahead?.keys ?? [])]);
    let { perKey } = allowance;
    const most = workersPerKey(settings, workers);
    if (most < Infinity) {
      // A claim can skip keys but not limit each one, so it asks for no more than the key with the least room may have.
      perKey = Math.min(perKey, most);
      for (const [key, count] of this.outages.load) {
        if (count >= most) except.add(key);
        else perKey = Math.min(perKey, most - count);
      }
    }
    const free = this.#isOpen ? workers - this.#taken : 0;
    const count = Math.min(free, allowance.count, perKey);
    const maxStranded = Math.min(count, this.#suspects.room(settings.retry.attempts));
    return { allowance, count, maxStranded, except };
  }

  /**
   * Takes on a claimed delivery. Returns its run if it may start.
   *
   * @param isAhead - it was claimed by looking ahead, and uses the worker of another run.
   */
  #begin(claimed: ClaimedDelivery, isAhead = false): HandlerRun | undefined {
    const { now } = this.#inbox;
    const run = new HandlerRun(claimed, storedBytes(claimed));
    this.runs.add(run);
    run.isPassive = isAhead;
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.handlers.resume(now());
    }
    if (!isAhead) {
      this.#taken += 1;
      if (run.isSuspect) this.#suspects.began();
      this.outages.claimed(claimed.key);
    }
    const heldUntilMs = this.#rules.heldUntilMs(claimed);
    const lastError = this.#rules.lastErrorOf(run);
    if (!this.#isOpen || (isAhead && run.isSuspect)) this.#settler.giveBackSoon(run);
    else if (lastError !== undefined) inBackground(this.#settler.failLast(run, lastError));
    else if (heldUntilMs !== undefined) this.#settler.giveBackSoon(run, heldUntilMs);
    else {
      run.startedAtMs = now();
      run.isProbe = !isAhead && this.outages.began(claimed.key);
      return run;
    }
    return undefined;
  }

  readonly #end = (run: HandlerRun, isSuccess: boolean): void => {
    if (!this.runs.delete(run)) return;
    run.state = 'over';
    const { holder } = run;
    if (run.isSuspect && !run.isPassive) this.#suspects.ended(run.isMade);
    if (!run.isPassive) holder.users -= 1;
    if (holder.users === 0 && !run.isPassive) {
      this.#free(holder);
      this.handlers.end(holder, isSuccess);
      this.wake();
    }
    if (this.runs.size === 0) this.#renewals.end();
    this.#checkIdle();
  };

  /** The worker of a run is free. */
  readonly #free = (run: HandlerRun): void => {
    this.#taken -= 1;
    run.isPassive = true;
    this.outages.ended(run.claimed.key, run.isProbe, run.startedAtMs);
  };

  readonly #lose = (run: HandlerRun): void => {
    // The handler of a batch goes on for the others.
    if (run.holder.users === 1) run.holder.abort('Another process has taken the delivery over.');
    this.#settler.lose(run);
  };

  readonly #overdue = (run: HandlerRun): void => {
    const { report, settings } = this.#inbox;
    const why = `The handler took longer than ${String(settings.maxHandlingMs)} ms.`;
    for (const one of run.members) {
      if (isOver(one)) continue;
      report.totals.overdue += 1;
      report.emit({ type: 'overdue', ...one.facts });
      inBackground(this.#settler.fail(one, why, { isOverdue: true }));
    }
    run.abort(why);
  };

  #checkIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}

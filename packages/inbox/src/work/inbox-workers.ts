import { inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { workersPerKey } from '@webhook-backpressure/core/extend';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Task } from '../time/scheduler.ts';
import { CompletionEnds } from './completion-ends.ts';
import { CrashSuspects } from './crash-suspects.ts';
import { LEASE_MS, LeaseRenewal } from './lease-renewal.ts';
import { Outages } from './outages.ts';
import { RunSettler } from './run-settler.ts';
import { HandlerRun, RunningHandlers } from './running-handlers.ts';

/** The delay of the next try when a due delivery cannot be claimed because another process blocks it. */
const RECHECK_MS = 1000;

/**
 * Processes deliveries: claims them as workers become free, runs their handlers, and settles each in the store before its
 * worker takes the next. One claim at a time, and none while nothing is due.
 */
export class InboxWorkers {
  readonly runs: Set<HandlerRun> = new Set<HandlerRun>();
  readonly handlers: RunningHandlers;
  readonly outages: Outages;
  readonly #inbox: InboxState;
  readonly #process: InboxOptions['process'];
  readonly #settler: RunSettler;
  readonly #completions: CompletionEnds;
  readonly #renewals: LeaseRenewal<HandlerRun>;
  readonly #suspects = new CrashSuspects();
  readonly #nextClaim: Task;
  #claiming: Promise<void> | undefined;
  #isClaimWanted = false;
  #onIdle: (() => void) | undefined;

  /** @param process - never called of a receiver without workers, which claims nothing. */
  constructor(inbox: InboxState, process: InboxOptions['process'], onDead: InboxOptions['onDead']) {
    const { store, health, scheduler, now, wall } = inbox;
    this.#inbox = inbox;
    this.#process = process;
    const begin = (run: HandlerRun): void => {
      inBackground(this.#handle(run));
    };
    this.handlers = new RunningHandlers(inbox, begin, this.#overdue);
    inbox.ownRate = this.handlers;
    this.outages = new Outages(inbox, (key) => {
      this.giveBackWaiting(key);
    });
    this.#settler = new RunSettler(inbox, this.handlers, this.outages, onDead, this.#end);
    this.#completions = new CompletionEnds(inbox, this.#settler, this.outages, this.#end);
    this.#renewals = new LeaseRenewal({
      store,
      health,
      scheduler,
      now,
      wallMs: () => wall.trustedMs(),
      runs: this.runs,
      lost: this.#lose,
    });
    this.#nextClaim = scheduler.task(() => {
      this.wake();
    });
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
      if (isMeant && run.state === 'waiting') inBackground(this.#settler.giveBack(run));
    }
  }

  /** Aborts running handlers and gives their deliveries back. Runs that are settling are stored. */
  async abandon(): Promise<void> {
    this.handlers.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.abort('The inbox closes.');
    await Promise.all(
      running.map((run) => (run.isRenewed ? this.#settler.giveBack(run) : this.#completions.end(run))),
    );
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
      const { allowance, count, maxStranded, except } = this.#limits(isIdle);
      if (count <= 0) {
        if (this.#isOpen && allowance.againAtMs < Infinity) this.#nextClaim.set(allowance.againAtMs);
        return;
      }
      const nowMs = wall.trustedMs();
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs, maxStranded, except });
      let stranded = 0;
      for (const one of claimed) {
        if (one.strandings > 0) stranded += 1;
        this.#begin(one);
      }
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
    const allowance = this.outages.allow(this.runs.size, workers, isIdle);
    const except = new Set(allowance.except);
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
    const free = this.#isOpen ? workers - this.runs.size : 0;
    const count = Math.min(free, allowance.count, perKey);
    const maxStranded = Math.min(count, this.#suspects.room(settings.retry.attempts));
    return { allowance, count, maxStranded, except };
  }

  #begin(claimed: ClaimedDelivery): void {
    const { now, settings } = this.#inbox;
    const run = new HandlerRun(claimed, storedBytes(claimed));
    this.runs.add(run);
    if (run.isSuspect) this.#suspects.began();
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.handlers.resume(now());
    }
    this.outages.claimed(claimed.key);
    if (!this.#isOpen) {
      inBackground(this.#settler.giveBack(run));
    } else if (run.countedAttempts > settings.retry.attempts) {
      const error = `The process ended during the last of ${String(run.countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
      inBackground(this.#settler.failLast(run, error));
    } else {
      run.startedAtMs = now();
      run.isProbe = this.outages.began(claimed.key);
      this.handlers.add(run);
    }
  }

  async #handle(run: HandlerRun): Promise<void> {
    const { report, fixtures, encryption } = this.#inbox;
    const { key, sender, id, attempt, receivedAtMs } = run.claimed;
    run.state = 'running';
    report.totals.started += 1;
    const waitedMs = Math.max(0, fixtures.wallClock() - receivedAtMs);
    report.emit({ type: 'started', key, sender, id, attempt, waitedMs });
    let failure: { readonly error: unknown } | undefined;
    let isMade = false;
    const completions = this.#completions;
    try {
      const opening = encryption.decrypt(run.claimed);
      const opened = opening instanceof Promise ? await opening : opening;
      if (isOver(run)) return;
      isMade = true;
      await this.#process(inboxDelivery(opened), {
        attempt,
        get signal() {
          return run.signal;
        },
        get complete() {
          return completions.of(run).complete;
        },
      });
    } catch (error) {
      failure = { error };
      report.processFailed(error);
    }
    await run.completion?.ended();
    run.onHandlerEnd();
    // Meanwhile the run may have become overdue, or its claim may have been lost or given back.
    if (isOver(run)) return;
    if (!run.isRenewed) await this.#completions.end(run, failure);
    else if (failure === undefined) await this.#settler.complete(run);
    else {
      const lacksKey = !encryption.hasKeyOf(run.claimed);
      // A delivery that cannot be decrypted is no evidence of an outage.
      await this.#settler.fail(run, failure.error, { isOfDelivery: !isMade, lacksKey });
    }
  }

  readonly #end = (run: HandlerRun, isSuccess: boolean): void => {
    if (!this.runs.delete(run)) return;
    run.state = 'over';
    if (run.isSuspect) this.#suspects.ended(run.isMade);
    this.outages.ended(run.claimed.key, run.isProbe, run.startedAtMs);
    this.handlers.end(run, isSuccess);
    if (this.runs.size === 0) this.#renewals.end();
    this.wake();
    this.#checkIdle();
  };

  readonly #lose = (run: HandlerRun): void => {
    run.abort('Another process has taken the delivery over.');
    this.#settler.lose(run);
  };

  readonly #overdue = (run: HandlerRun): void => {
    const { report, settings } = this.#inbox;
    const { key, sender, id, attempt } = run.claimed;
    const why = `The handler took longer than ${String(settings.maxHandlingMs)} ms.`;
    report.totals.overdue += 1;
    report.emit({ type: 'overdue', key, sender, id, attempt });
    inBackground(
      run.isRenewed
        ? this.#settler.fail(run, why, { isOverdue: true })
        : this.#completions.endOverdue(run, why),
    );
    run.abort(why);
  };

  #checkIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}

/** Whether the run ended while its handler ran. */
function isOver({ state }: HandlerRun): boolean {
  return state !== 'running';
}

import { inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { BatchCalls } from './batch-calls.ts';
import { Claiming } from './claiming.ts';
import { CompletionEnds } from './completion-ends.ts';
import { HandlerCalls, isOver } from './handler-calls.ts';
import { HandlerRun } from './handler-run.ts';
import { LeaseRenewal } from './lease-renewal.ts';
import type { Token } from './limited-claims.ts';
import { LookAhead } from './look-ahead.ts';
import { Outages } from './outages.ts';
import { RunSettler } from './run-settler.ts';
import { RunningHandlers } from './running-handlers.ts';
import { StartRules } from './start-rules.ts';

type Processing = Pick<InboxOptions<never>, 'process' | 'processBatch' | 'coalesce' | 'onDead' | 'ttlMs'>;

/**
 * Processes deliveries: claims them as workers become free, runs their handlers, and settles each in the store before its
 * worker takes the next.
 */
export class InboxWorkers {
  readonly runs: Set<HandlerRun> = new Set<HandlerRun>();
  readonly handlers: RunningHandlers;
  readonly outages: Outages;
  readonly #inbox: InboxState;
  readonly #rules: StartRules;
  readonly #settler: RunSettler;
  readonly #completions: CompletionEnds;
  readonly #renewals: LeaseRenewal<HandlerRun>;
  /** Undefined unless deliveries share workers. */
  readonly #ahead: LookAhead | undefined;
  /** How many workers are used, or will be. */
  #taken = 0;
  readonly #claiming: Claiming;
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
    this.outages = new Outages(inbox, this.giveBackWaiting);
    const wake = (): void => {
      this.wake();
    };
    const settler = (this.#settler = new RunSettler(inbox, this.handlers, this.outages, onDead, this.#end));
    const completions = (this.#completions = new CompletionEnds(
      inbox,
      settler,
      this.outages,
      this.#end,
      coalesce === undefined,
    ));
    const limited = () => this.#claiming.limited;
    const calls = new HandlerCalls(inbox, process, this.#rules, settler, completions, {
      get limited() {
        return limited();
      },
      giveBackWaiting: this.giveBackWaiting,
    });
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
    const taken = (): number => this.#taken;
    this.#claiming = new Claiming(inbox, {
      get taken() {
        return taken();
      },
      ahead: this.#ahead,
      handlers: this.handlers,
      outages: this.outages,
      begin: (claimed, token) => this.#begin(claimed, false, token),
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

  /** Whether deliveries share a worker. */
  get sharesWorkers(): boolean {
    return this.#ahead !== undefined;
  }

  /** How many keys have something due that `limits` does not let start. */
  get limitedKeys(): number {
    return this.#claiming.limited?.limitedKeys ?? 0;
  }

  /**
   * Claims, if a delivery is due and a worker free. Call it when one of them may have become so.
   *
   * @param key - of the delivery. Default: of any.
   */
  wake(key?: string): void {
    this.#claiming.limited?.due(key);
    this.#claiming.wake();
  }

  /** Applies changed options. */
  retune(): void {
    this.handlers.retune();
    this.#claiming.retune();
    this.wake();
  }

  /** Resolves when no claim is in progress. */
  async claimed(): Promise<void> {
    await this.#claiming.ended();
  }

  /** Resolves when no delivery is claimed any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
  }

  /** Gives back claimed deliveries that wait for their start: of a key, or with null all. */
  readonly giveBackWaiting = (key: string | null): void => {
    for (const run of [...this.runs]) {
      const isMeant = key === null || run.claimed.key === key;
      if (isMeant && run.state === 'waiting') this.#settler.giveBackSoon(run);
    }
  };

  /** A key is paused in the store, or with null everything: starts nothing that was claimed before. */
  paused(key: string | null): void {
    this.#claiming.paused(key);
    this.giveBackWaiting(key);
  }

  /** Aborts running handlers and gives their deliveries back. Runs that are settling are stored. */
  async abandon(): Promise<void> {
    this.handlers.stop();
    const running = [...this.runs].filter(({ state }) => state === 'running');
    for (const run of running) run.holder.abort('The inbox closes.');
    await Promise.all(
      running.map((run) => (run.isRenewed ? this.#settler.giveBack(run) : this.#completions.end(run))),
    );
    // Do not wait for a store that is failing.
    if (!this.#inbox.health.isResting) await this.idle();
  }

  /** Releases timers. */
  end(): void {
    this.#claiming.limited?.tokens.close();
  }

  get #isOpen(): boolean {
    return this.#inbox.phase === 'open' && this.#inbox.role !== 'receiver';
  }

  /**
   * Takes on a claimed delivery. Returns its run if it may start.
   *
   * @param isAhead - it was claimed by looking ahead, and uses the worker of another run.
   */
  #begin(claimed: ClaimedDelivery, isAhead = false, token?: Token): HandlerRun | undefined {
    const { now } = this.#inbox;
    const { limited } = this.#claiming;
    const { key } = claimed;
    const run = new HandlerRun(claimed, storedBytes(claimed));
    run.rate = token?.rate;
    run.isPassive = isAhead;
    this.#renewals.claimed(run);
    this.runs.add(run);
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.handlers.resume(now());
    }
    if (!isAhead) {
      this.#taken += 1;
      this.outages.claimed(key);
      limited?.began(key);
    }
    if (run.isSuspect) this.#claiming.suspectBegan(run);
    const isHeld = token?.mayStart === false || limited?.isHeld(key) === true || this.#claiming.isPaused(key);
    const heldUntilMs = this.#rules.heldUntilMs(claimed);
    const lastError = this.#rules.lastErrorOf(run);
    if (!this.#isOpen || isHeld) this.#settler.giveBackSoon(run);
    else if (lastError !== undefined) inBackground(this.#settler.failLast(run, lastError));
    else if (heldUntilMs !== undefined) this.#settler.giveBackSoon(run, heldUntilMs);
    else {
      run.startedAtMs = now();
      run.isProbe = !isAhead && this.outages.began(key);
      return run;
    }
    return undefined;
  }

  readonly #end = (run: HandlerRun, isSuccess: boolean): void => {
    if (!this.runs.delete(run)) return;
    this.#renewals.ended(run);
    const { key } = run.claimed;
    run.state = 'over';
    const { holder } = run;
    this.#claiming.limited?.ended(key, isSuccess, run.rate);
    if (run.isSuspect) this.#claiming.suspectEnded(run);
    if (!run.isPassive) holder.users -= 1;
    if (holder.users === 0 && !run.isPassive) {
      this.#free(holder);
      this.handlers.end(holder, isSuccess);
      this.#claiming.wake();
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
    // The newest of a group first: its followers were not passed to the handler, and are given back with its failure.
    for (const one of run.members.toSorted((a, b) => b.followers.length - a.followers.length)) {
      if (isOver(one)) continue;
      report.totals.overdue += 1;
      report.emit({ type: 'overdue', ...one.facts });
      inBackground(
        one.isRenewed
          ? this.#settler.fail(one, why, { isOverdue: true })
          : this.#completions.endOverdue(one, why),
      );
    }
    run.abort(why);
  };

  #checkIdle(): void {
    if (this.runs.size > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}

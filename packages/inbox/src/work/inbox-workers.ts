import { inBackground, isThenable } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { Claiming } from './claiming.ts';
import { CrashSuspects } from './crash-suspects.ts';
import { LeaseRenewal } from './lease-renewal.ts';
import type { Token } from './limited-claims.ts';
import { Outages } from './outages.ts';
import { retryInstructionOf } from './retries.ts';
import { RunSettler } from './run-settler.ts';
import { HandlerRun, RunningHandlers } from './running-handlers.ts';

/**
 * Processes deliveries: claims them as workers become free, runs their handlers, and settles each in the store before its
 * worker takes the next.
 */
export class InboxWorkers {
  readonly runs: Set<HandlerRun> = new Set<HandlerRun>();
  readonly handlers: RunningHandlers;
  readonly outages: Outages;
  readonly #inbox: InboxState;
  readonly #process: InboxOptions['process'];
  readonly #settler: RunSettler;
  readonly #renewals: LeaseRenewal<HandlerRun>;
  readonly #suspects = new CrashSuspects();
  readonly #claiming: Claiming;
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
    this.#renewals = new LeaseRenewal({
      store,
      health,
      scheduler,
      now,
      wallMs: () => wall.trustedMs(),
      runs: this.runs,
      lost: this.#lose,
    });
    this.#claiming = new Claiming(inbox, {
      runs: this.runs,
      handlers: this.handlers,
      outages: this.outages,
      suspects: this.#suspects,
      begin: this.#begin,
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
    await Promise.all(running.map((run) => this.#settler.giveBack(run)));
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

  readonly #begin = (claimed: ClaimedDelivery, token?: Token): void => {
    const { now, settings } = this.#inbox;
    const { attempts } = settings.retry;
    const { key, strandings } = claimed;
    const run = new HandlerRun(claimed, storedBytes(claimed));
    run.rate = token?.rate;
    this.runs.add(run);
    if (this.runs.size === 1) {
      this.#renewals.begin();
      this.handlers.resume(now());
    }
    this.outages.claimed(key);
    this.#claiming.limited?.began(key);
    const isHeld = token?.mayStart === false || this.#claiming.limited?.isHeld(key) === true;
    if (!this.#isOpen || isHeld || !this.#mayTry(run, strandings)) {
      inBackground(this.#settler.giveBack(run));
    } else if (run.countedAttempts > attempts) {
      const error = `The process ended during the last of ${String(run.countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
      inBackground(this.#settler.failLast(run, error));
    } else {
      run.startedAtMs = now();
      run.isProbe = this.outages.began(key);
      run.isTokenFresh = true;
      this.handlers.add(run);
      run.isTokenFresh = false;
    }
  };

  /** Counts a suspect. A claim from any key returns no more of them than may run; one of a named key does. */
  #mayTry(run: HandlerRun, strandings: number): boolean {
    if (!run.isSuspect) return true;
    if (this.#claiming.limited === undefined) {
      this.#suspects.began();
      return true;
    }
    run.isSuspect = this.#suspects.admits(strandings, this.#inbox.settings.retry.attempts);
    if (!run.isSuspect) this.#claiming.limited.defer(run.claimed.key);
    return run.isSuspect;
  }

  async #handle(run: HandlerRun): Promise<void> {
    const { report, fixtures, encryption } = this.#inbox;
    const { key, sender, id, attempt, receivedAtMs } = run.claimed;
    run.state = 'running';
    if (run.rate !== undefined && !run.isTokenFresh) {
      const usable = this.#claiming.limited?.tokens.use(key, 1, run.rate);
      run.rate = undefined;
      if ((isThenable(usable) ? await usable : usable) === 0) {
        if (!isOver(run)) await this.#settler.giveBack(run);
        return;
      }
      if (isOver(run)) return;
    }
    run.rate = undefined;
    report.totals.started += 1;
    const waitedMs = Math.max(0, fixtures.wallClock() - receivedAtMs);
    report.emit({ type: 'started', key, sender, id, attempt, waitedMs });
    let failure: { readonly error: unknown } | undefined;
    let isMade = false;
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
      });
    } catch (error) {
      failure = { error };
      report.processFailed(error);
    }
    // Meanwhile the run may have become overdue, or its claim may have been lost or given back.
    if (isOver(run)) return;
    if (failure === undefined) await this.#settler.complete(run);
    else {
      const { delayMs } = retryInstructionOf(failure.error);
      if (delayMs !== undefined && this.#claiming.limited?.hold(key, delayMs) === true)
        this.giveBackWaiting(key);
      const lacksKey = !encryption.hasKeyOf(run.claimed);
      // A delivery that cannot be decrypted is no evidence of an outage.
      await this.#settler.fail(run, failure.error, { isOfDelivery: !isMade, lacksKey });
    }
  }

  readonly #end = (run: HandlerRun, isSuccess: boolean): void => {
    if (!this.runs.delete(run)) return;
    const { key } = run.claimed;
    run.state = 'over';
    this.#claiming.limited?.ended(key, isSuccess, run.rate);
    if (run.isSuspect) this.#suspects.ended(run.isMade);
    this.outages.ended(key, run.isProbe, run.startedAtMs);
    this.handlers.end(run, isSuccess);
    if (this.runs.size === 0) this.#renewals.end();
    this.#claiming.wake();
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
    inBackground(this.#settler.fail(run, why, { isOverdue: true }));
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

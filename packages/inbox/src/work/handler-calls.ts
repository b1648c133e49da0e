import { inBackground, isThenable } from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { DeliveryHandler } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { CompletionEnds } from './completion-ends.ts';
import { DeliveryRouter, type CompletedAs } from './delivery-router.ts';
import type { LimitedClaims } from './limited-claims.ts';
import { retryInstructionOf } from './retries.ts';
import type { FailureFacts, RunSettler } from './run-settler.ts';
import type { HandlerRun } from './handler-run.ts';
import type { StartRules } from './start-rules.ts';

/** The limits of keys, as far as runs need them. */
interface LimitsOfRuns {
  /** Undefined without limits. */
  readonly limited: LimitedClaims | undefined;
  /** Gives back claimed deliveries of the key that wait for their start. */
  giveBackWaiting(key: string): void;
}

/** Opens claimed deliveries, calls their handlers, and settles them by the result. */
export class HandlerCalls {
  readonly #inbox: InboxState;
  readonly #router: DeliveryRouter;
  readonly #rules: StartRules;
  readonly #settler: RunSettler;
  readonly #completions: CompletionEnds;
  readonly #limits: LimitsOfRuns;

  constructor(
    inbox: InboxState,
    process: DeliveryHandler | undefined,
    rules: StartRules,
    settler: RunSettler,
    completions: CompletionEnds,
    limits: LimitsOfRuns,
  ) {
    this.#inbox = inbox;
    this.#router = new DeliveryRouter(inbox, inbox.fixtures.handlers, process);
    this.#rules = rules;
    this.#settler = settler;
    this.#completions = completions;
    this.#limits = limits;
  }

  async handle(run: HandlerRun): Promise<void> {
    const { key, attempt } = run.claimed;
    run.state = 'running';
    if (run.rate !== undefined && !run.isTokenFresh && !(await this.#useToken(run, run.rate))) return;
    run.rate = undefined;
    this.begin(run);
    for (const follower of run.followers) follower.state = 'running';
    const completions = this.#completions;
    let failure: { readonly error: unknown } | undefined;
    let as: CompletedAs;
    try {
      const opened = await this.open(run);
      if (opened === undefined) return;
      as = await this.#router.pass(run, opened, {
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
      this.#inbox.report.processFailed(error);
    }
    await run.completion?.ended();
    run.onHandlerEnd();
    // Meanwhile the run may have become overdue, or its claim may have been lost or given back.
    if (isOver(run)) return;
    if (failure !== undefined) {
      const { delayMs } = retryInstructionOf(failure.error);
      if (delayMs !== undefined && this.#limits.limited?.hold(key, delayMs) === true)
        this.#limits.giveBackWaiting(key);
    }
    if (!run.isRenewed) await this.#completions.end(run, failure);
    else if (failure === undefined) await this.#settler.complete(run, as);
    else await this.#settler.fail(run, failure.error, this.factsOf(run));
  }

  /** Uses the token of a run that waited since it was claimed. Returns false when the run has ended. */
  async #useToken(run: HandlerRun, rate: BucketLimit): Promise<boolean> {
    const usable = this.#limits.limited?.tokens.use(run.claimed.key, 1, rate);
    run.rate = undefined;
    if ((isThenable(usable) ? await usable : usable) === 0) {
      if (!isOver(run)) await this.#settler.giveBack(run);
      return false;
    }
    return !isOver(run);
  }

  /** Reports that an attempt begins. */
  begin(run: HandlerRun): void {
    const { report, fixtures } = this.#inbox;
    run.state = 'running';
    report.totals.started += 1;
    const waitedMs = Math.max(0, fixtures.wallClock() - run.claimed.receivedAtMs);
    report.emit({ type: 'started', ...run.facts, waitedMs });
  }

  /**
   * The decrypted delivery; undefined when the run is over, or ends because the delivery has expired.
   *
   * @throws when it cannot be decrypted, this process lacks its handler, or `ttlMs` throws.
   */
  async open(run: HandlerRun): Promise<ClaimedDelivery | undefined> {
    const opening = this.#inbox.encryption.decrypt(run.claimed);
    const opened = opening instanceof Promise ? await opening : opening;
    if (isOver(run)) return undefined;
    this.#router.handlerOf(run.claimed);
    run.isOpened = true;
    if (run.coalesceError !== undefined) throw run.coalesceError.error;
    const expiry = this.#rules.expiryOf(run.claimed, opened);
    if (expiry === undefined) return opened;
    inBackground(this.#settler.failLast(run, expiry));
    return undefined;
  }

  /** A delivery that cannot be decrypted, or has no handler here, is no evidence of an outage. */
  factsOf({ claimed, isOpened }: HandlerRun): FailureFacts {
    const lacksKey = !this.#inbox.encryption.hasKeyOf(claimed) || !this.#router.hasHandlerOf(claimed);
    return { isOfDelivery: !isOpened, lacksKey };
  }
}

/** Whether the run ended while its handler ran. */
export function isOver({ state }: HandlerRun): boolean {
  return state !== 'running';
}

import { inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { DeliveryHandler } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { DeliveryRouter, type CompletedAs } from './delivery-router.ts';
import type { FailureFacts, RunSettler } from './run-settler.ts';
import type { HandlerRun } from './handler-run.ts';
import type { StartRules } from './start-rules.ts';

/** Opens claimed deliveries, calls their handlers, and settles them by the result. */
export class HandlerCalls {
  readonly #inbox: InboxState;
  readonly #router: DeliveryRouter;
  readonly #rules: StartRules;
  readonly #settler: RunSettler;

  constructor(
    inbox: InboxState,
    process: DeliveryHandler | undefined,
    rules: StartRules,
    settler: RunSettler,
  ) {
    this.#inbox = inbox;
    this.#router = new DeliveryRouter(inbox, inbox.fixtures.handlers, process);
    this.#rules = rules;
    this.#settler = settler;
  }

  async handle(run: HandlerRun): Promise<void> {
    const { attempt } = run.claimed;
    this.begin(run);
    for (const follower of run.followers) follower.state = 'running';
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
      });
    } catch (error) {
      failure = { error };
      this.#inbox.report.processFailed(error);
    }
    // Meanwhile the run may have become overdue, or its claim may have been lost or given back.
    if (isOver(run)) return;
    if (failure === undefined) await this.#settler.complete(run, as);
    else await this.#settler.fail(run, failure.error, this.factsOf(run));
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

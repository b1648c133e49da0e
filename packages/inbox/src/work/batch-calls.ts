import { inBackground } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { BatchHandler } from '../options/batch-options.ts';
import { batchResults, type BatchResult } from './batch-results.ts';
import { groupOf, newestOf, type Coalesce } from './coalescing.ts';
import { isOver, type HandlerCalls } from './handler-calls.ts';
import type { RunSettler } from './run-settler.ts';
import type { HandlerRun } from './handler-run.ts';

interface Opened {
  readonly run: HandlerRun;
  readonly delivery: InboxDelivery;
  readonly group: string | null;
}

/** Calls `processBatch`, and settles each delivery of the batch by its own result. */
export class BatchCalls {
  readonly #inbox: InboxState;
  readonly #calls: HandlerCalls;
  readonly #settler: RunSettler;
  readonly #process: BatchHandler;
  readonly #coalesce: Coalesce | undefined;

  constructor(
    inbox: InboxState,
    calls: HandlerCalls,
    settler: RunSettler,
    process: BatchHandler,
    coalesce: Coalesce | undefined,
  ) {
    this.#inbox = inbox;
    this.#calls = calls;
    this.#settler = settler;
    this.#process = process;
    this.#coalesce = coalesce;
  }

  /** @param holder - the run that has the worker of the batch. */
  async handle(holder: HandlerRun): Promise<void> {
    const members = holder.members.filter(({ state }) => state === 'waiting');
    for (const run of members) {
      run.state = 'running';
      run.startedAtMs = holder.startedAtMs;
    }
    const opened = (await Promise.all(members.map((run) => this.#open(run)))).flatMap((one) => one ?? []);
    const chosen = this.#choose(opened.filter(({ run }) => !isOver(run)));
    if (chosen.length === 0) return;
    for (const { run } of chosen) this.#calls.begin(run);
    this.#settle(chosen, await this.#call(holder, chosen));
  }

  async #open(run: HandlerRun): Promise<Opened | undefined> {
    try {
      const opened = await this.#calls.open(run);
      if (opened === undefined) return undefined;
      const group = this.#coalesce === undefined ? null : groupOf(this.#coalesce, opened);
      return { run, delivery: inboxDelivery(opened), group };
    } catch (error) {
      if (isOver(run)) return undefined;
      this.#inbox.report.processFailed(error);
      inBackground(this.#settler.fail(run, error, this.#calls.factsOf(run)));
      return undefined;
    }
  }

  /** The newest delivery of each group, which the others follow, and all without one. */
  #choose(opened: readonly Opened[]): readonly Opened[] {
    const groups = new Map<string, HandlerRun[]>();
    for (const { run, group } of opened)
      if (group !== null) groups.set(group, [...(groups.get(group) ?? []), run]);
    const following = new Set<HandlerRun>();
    for (const runs of groups.values()) {
      const newest = newestOf(runs);
      if (newest === undefined) continue;
      newest.followers = runs.filter((run) => run !== newest);
      for (const run of newest.followers) following.add(run);
    }
    return opened.filter(({ run }) => !following.has(run));
  }

  async #call(holder: HandlerRun, chosen: readonly Opened[]): Promise<readonly BatchResult[]> {
    try {
      const deliveries = chosen.map(({ delivery }) => delivery);
      const returned: unknown = await this.#process(deliveries, {
        attempts: chosen.map(({ run }) => run.claimed.attempt),
        get signal() {
          return holder.signal;
        },
      });
      return await batchResults(returned, chosen.length);
    } catch (error) {
      return chosen.map(() => ({ error }));
    }
  }

  /** Failures first: a success then shows that the handler's dependencies work. */
  #settle(chosen: readonly Opened[], results: readonly BatchResult[]): void {
    const { report } = this.#inbox;
    const ended = chosen.map(({ run }, at) => ({ run, result: results[at] }));
    // Meanwhile a run may have become overdue, or its claim may have been lost or given back.
    const live = ended.filter(({ run }) => !isOver(run));
    const failed = live.filter(({ result }) => result !== undefined);
    if (failed[0] !== undefined) report.processFailed(failed[0].result?.error);
    for (const { run, result } of failed) inBackground(this.#settler.fail(run, result?.error));
    for (const { run, result } of live) {
      if (result === undefined) inBackground(this.#settler.complete(run));
    }
  }
}

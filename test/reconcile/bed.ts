import { setImmediate as turn } from 'node:timers/promises';
import type { InboxDelivery, InboxOptions } from '@webhook-backpressure/inbox';
import {
  reconcile,
  type ReconcileEvent,
  type ReconcileOptions,
  type ReconcileResult,
  type Reconciler,
} from '@webhook-backpressure/reconcile';
import { InboxBench } from '../core/inbox/inbox-bench.ts';

/** An inbox on a manual clock, whose handlers note what they get, and a reconciler. */
export class ReconcileBed {
  readonly bench: InboxBench;
  readonly handled: InboxDelivery[] = [];
  readonly events: ReconcileEvent[] = [];
  readonly reconcilers: Reconciler[] = [];

  constructor(options: Partial<InboxOptions> = {}) {
    this.bench = new InboxBench({
      process: (delivery) => void this.handled.push(delivery),
      ...options,
    });
  }

  get wallMs(): number {
    return this.bench.wallOffsetMs + this.bench.clock.now();
  }

  get results(): ReconcileResult[] {
    return this.events.flatMap((event) => (event.type === 'run' ? [event.result] : []));
  }

  get ids(): string[] {
    return this.handled.map(({ id }) => id).sort();
  }

  /** Sends a request to the inbox, and returns the status of the answer. */
  async receive(request: Request): Promise<number> {
    const body = new Uint8Array(await request.arrayBuffer());
    const answer = await this.bench.inbox.receive({
      headers: Object.fromEntries(request.headers),
      hint: '',
      read: (sink) => {
        sink.add(body);
        return Promise.resolve('whole');
      },
    });
    return answer?.status ?? 502;
  }

  start(options: Pick<ReconcileOptions, 'source'> & Partial<ReconcileOptions>): Reconciler {
    const { clock } = this.bench;
    const wallClock = (): number => this.wallMs;
    const reconciler = reconcile({
      ...{ inbox: this.bench.inbox, clock, wallClock, random: () => 0.5, since: new Date(0) },
      ...options,
    });
    reconciler.subscribe((event) => this.events.push(event));
    this.reconcilers.push(reconciler);
    return reconciler;
  }

  /** Moves the clock from timer to timer until the condition holds. */
  async until(isReached: () => boolean, mostMs = 86_400_000): Promise<void> {
    const { clock } = this.bench;
    const endMs = clock.now() + mostMs;
    for (;;) {
      for (let at = 0; at < 12 && !isReached(); at += 1) await turn();
      if (isReached()) return;
      if (clock.now() > endMs || !clock.advanceToNext()) throw new Error('It was not reached.');
    }
  }

  /** The result of the next run, or of the promise of one. */
  async result(run?: Promise<ReconcileResult>): Promise<ReconcileResult> {
    let result: ReconcileResult | undefined;
    const known = this.results.length;
    void run?.then((given) => (result = given));
    await this.until(() => result !== undefined || (run === undefined && this.results.length > known));
    return result ?? (this.results[known] as ReconcileResult);
  }

  /** Moves the clock, with everything that happens meanwhile. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.bench;
    let isPast = false;
    clock.setTimeout(() => (isPast = true), ms);
    await this.until(() => isPast, ms + 1);
  }

  async close(): Promise<void> {
    await Promise.all(this.reconcilers.map((one) => one.close()));
    let isClosed = false;
    void this.bench.inbox.close().then(() => (isClosed = true));
    await this.until(() => isClosed);
  }
}

import type { SenderOptions } from '@webhook-backpressure/sender';
import { SenderBed, type Answering } from './bed.ts';
import { CountedBuckets } from './counted-buckets.ts';
import { GatedStore } from './gated-store.ts';

export const LIMITS = { rate: { perSecond: 1000 }, burst: 1000, maxInFlight: 8 };
export const NO_CONTENT: Answering = () => new Response(null, { status: 204 });

/** A sender whose claims and tokens the test controls. */
export class ClaimBed {
  readonly gated = new GatedStore();
  readonly buckets = new CountedBuckets();
  readonly bed: SenderBed;

  constructor(answer: Answering = NO_CONTENT, limits: object = {}, options: Partial<SenderOptions> = {}) {
    this.bed = new SenderBed(answer, {
      store: this.gated.store,
      buckets: this.buckets,
      limits: { ...LIMITS, ...limits },
      ...options,
    });
  }

  async sendAll(from: number, to: number): Promise<void> {
    for (let n = from; n < to; n += 1) await this.bed.send(`e${String(n)}`);
  }

  /** Until claims of these events are in progress. */
  async claiming(from: number, to: number): Promise<void> {
    this.gated.close();
    // Together, so that one claim is for all of them.
    await Promise.all(Array.from({ length: to - from }, (_, n) => this.bed.send(`e${String(from + n)}`)));
    await this.bed.settle();
  }

  async claimed(): Promise<void> {
    this.gated.open();
    await this.bed.settle();
  }
}

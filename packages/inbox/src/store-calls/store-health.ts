import { errorMessageOf } from '@webhook-backpressure/base';
import type { Scheduler } from '../time/scheduler.ts';
import { storeFaultOf } from './store-errors.ts';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/**
 * When receiving: every second without a call after the store has recovered costs deliveries, and yet calls to a failing
 * store must be rare, because one may block the process.
 */
export const MAX_RECEIVING_DELAY_MS = 1000;

/** How long deliveries are accepted while none can be claimed or settled: a lock or a slow disk may take that long. */
const STUCK_MS = 30_000;

/** The counts and reports of {@link StoreHealth}: of an inbox, or of a sender. */
export interface StoreHealthReport {
  readonly totals: { storeFailures: number };
  emit(
    event:
      | { readonly type: 'store-failed'; readonly call: string; readonly error: string }
      | { readonly type: 'store-recovered' },
  ): void;
}

/** Tracks whether the store works. After a failure it is not called for a while, longer with each failure. */
export class StoreHealth {
  readonly #scheduler: Scheduler;
  readonly #report: StoreHealthReport;
  readonly #maxDelayMs: number;
  #failures = 0;
  #failingSinceMs: number | undefined;
  /** The last failure since then. */
  #failedMs = 0;
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  constructor(scheduler: Scheduler, report: StoreHealthReport, maxDelayMs: number = MAX_DELAY_MS) {
    this.#scheduler = scheduler;
    this.#report = report;
    this.#maxDelayMs = maxDelayMs;
  }

  get isWell(): boolean {
    return this.#failures === 0;
  }

  /** Whether it failed so recently that it must not be called. */
  get isResting(): boolean {
    return this.#pause !== undefined;
  }

  /** Whether calls have been failing for long. */
  get isStuck(): boolean {
    return this.#failingSinceMs !== undefined && this.#scheduler.nowMs - this.#failingSinceMs >= STUCK_MS;
  }

  /**
   * How long calls have been failing, in milliseconds, from the first failure to the last; 0 if they work. A store of which
   * one call has failed, and that was not called since, may work again.
   */
  get failingMs(): number {
    return this.#failingSinceMs === undefined ? 0 : this.#failedMs - this.#failingSinceMs;
  }

  worked(): void {
    this.#failingSinceMs = undefined;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#resume?.();
    this.#report.emit({ type: 'store-recovered' });
  }

  failed(call: string, error: unknown): void {
    this.#report.totals.storeFailures += 1;
    this.#report.emit({ type: 'store-failed', call, error: errorMessageOf(error) });
    // A delivery that cannot be stored is no fault of the store. After any other failure the call is repeated later.
    if (call === 'put' && storeFaultOf(error) === 'value') return;
    this.#failedMs = this.#scheduler.nowMs;
    this.#failingSinceMs ??= this.#failedMs;
    // Calls that fail during a pause belong to the failure that began it.
    this.#pause ??= this.#wait();
  }

  /** Resolves when the store may be called: immediately while it works. */
  async rest(): Promise<void> {
    await this.#pause;
  }

  async #wait(): Promise<void> {
    const delayMs = Math.min(this.#maxDelayMs, FIRST_DELAY_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    const recovered = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    await Promise.race([this.#scheduler.pause(delayMs), recovered]);
    this.#pause = undefined;
  }
}

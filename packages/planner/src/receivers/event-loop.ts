import type { Clock } from '@webhook-backpressure/base';
import type { ManualClock } from '@webhook-backpressure/core/testing';
import type { Interval } from '../scenario/scenario.ts';

/**
 * The time of a single thread, which can be busy or frozen (stopped, or without a CPU). Both delay its timers.
 */
export class EventLoop {
  /** The clock as the receiver sees it. */
  readonly clock: Clock;
  readonly #manual: ManualClock;
  readonly #freezes: readonly { readonly fromMs: number; readonly toMs: number }[];

  constructor(manual: ManualClock, freezes: readonly Interval[]) {
    this.#manual = manual;
    this.#freezes = freezes
      .map(({ fromS, toS }) => ({ fromMs: fromS * 1000, toMs: toS * 1000 }))
      .sort((a, b) => a.fromMs - b.fromMs);
    this.clock = {
      now: () => manual.now(),
      setTimeout: (callback, ms) => {
        const now = manual.now();
        return manual.setTimeout(callback, this.awakeAt(now + Math.max(0, ms)) - now);
      },
      clearTimeout: (handle) => {
        manual.clearTimeout(handle);
      },
    };
  }

  /** The first time, from `atMs` on, at which the thread is not frozen. */
  awakeAt(atMs: number): number {
    let awakeMs = atMs;
    for (const { fromMs, toMs } of this.#freezes) if (fromMs <= awakeMs && awakeMs < toMs) awakeMs = toMs;
    return awakeMs;
  }

  /** Works for `ms`. No timer fires meanwhile. */
  work(ms: number): void {
    const now = this.#manual.now();
    let endMs = now + ms;
    for (const { fromMs, toMs } of this.#freezes) {
      if (fromMs >= now && fromMs < endMs) endMs += toMs - fromMs;
    }
    this.#manual.jump(endMs - now);
  }

  /** Fires the timers that came due meanwhile. */
  fireTimers(): void {
    this.#manual.advance(0);
  }
}

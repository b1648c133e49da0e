import type { Delivery, Permit, Refusal } from '@webhook-backpressure/core';
import type { ManualClock } from '@webhook-backpressure/core/testing';
import type { Bench } from './harness.ts';

/** The outcome of a delivery when its handling has ended. */
export interface Handled {
  readonly key: string;
  readonly arrivedMs: number;
  readonly waitedMs: number;
  readonly endedMs: number;
}

/** Handlers that take time on the manual clock and then release, as those of an application do. */
export class Workshop {
  readonly handled: Handled[] = [];
  /** When all of them stand still. */
  stall: { readonly fromMs: number; readonly toMs: number } | undefined;
  serviceMs: () => number;
  readonly #bench: Bench;

  constructor(bench: Bench, serviceMs: () => number) {
    this.#bench = bench;
    this.serviceMs = serviceMs;
  }

  /** Sends a delivery. Returns the refusal if it is refused at admission. */
  bring(delivery: Delivery = {}): Refusal | undefined {
    const arrivedMs = this.#bench.clock.now();
    const result = this.#bench.intake.admit(delivery);
    if (!result.admitted) return result;
    const { permit } = result;
    const { key = 'default' } = delivery;
    const work = (result: Permit | Refusal): void => {
      if (result.admitted) this.#work(result, key, arrivedMs);
    };
    if (permit instanceof Promise) void permit.then(work);
    else work(permit);
    return undefined;
  }

  #work(permit: Permit, key: string, arrivedMs: number): void {
    const { clock } = this.#bench;
    const startedMs = arrivedMs + permit.waitedMs;
    clock.setTimeout(
      () => {
        permit.release();
        this.handled.push({ key, arrivedMs, waitedMs: permit.waitedMs, endedMs: clock.now() });
      },
      this.#endMs(startedMs) - clock.now(),
    );
  }

  #endMs(startedMs: number): number {
    const endMs = startedMs + this.serviceMs();
    if (this.stall === undefined || endMs <= this.stall.fromMs || startedMs >= this.stall.toMs) return endMs;
    return endMs + this.stall.toMs - Math.max(startedMs, this.stall.fromMs);
  }
}

/** Calls `arrive` after each gap, in milliseconds, until `untilMs`. */
export function arrivals(clock: ManualClock, untilMs: number, gapMs: () => number, arrive: () => void): void {
  const next = (): void => {
    const ms = gapMs();
    if (clock.now() + ms >= untilMs) return;
    clock.setTimeout(() => {
      arrive();
      next();
    }, ms);
  };
  next();
}

/** Runs the clock to `untilMs`, one timer at a time, so that promises settled by a timer react before the next. */
export async function runUntil(clock: ManualClock, untilMs: number): Promise<void> {
  let isThere = clock.now() >= untilMs;
  const end = clock.setTimeout(
    () => {
      isThere = true;
    },
    Math.max(0, untilMs - clock.now()),
  );
  while (!isThere) {
    clock.advanceToNext();
    await Promise.resolve();
    await Promise.resolve();
  }
  clock.clearTimeout(end);
}

/** The value below which the fraction `p` of the values lies. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN;
}

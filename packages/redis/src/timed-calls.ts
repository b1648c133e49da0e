import type { Clock } from '@webhook-backpressure/base';

/** How a call ended: `late` if there was no reply in time. */
export type Reply<T> =
  | { readonly kind: 'answered'; readonly value: T; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' };

interface Call {
  readonly untilMs: number;
  readonly giveUp: () => void;
}

/** Calls that all have the same time to be answered: in the order of their start, so that they share one timer. */
export class TimedCalls {
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #calls = new Set<Call>();
  #timer: unknown;
  #isTimerSet = false;

  constructor(limitMs: number, clock: Clock, now: () => number) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#now = now;
  }

  /** @param answeredLate - receives the value of a call that was given up. */
  run<T>(start: () => Promise<T>, answeredLate: (value: T) => void): Promise<Reply<T>> {
    return new Promise((resolve) => {
      const sentAtMs = this.#now();
      const call: Call = {
        untilMs: sentAtMs + this.#limitMs,
        giveUp: () => {
          resolve({ kind: 'late' });
        },
      };
      this.#calls.add(call);
      this.#watch();
      start().then(
        (value) => {
          if (!this.#ended(call)) answeredLate(value);
          else resolve({ kind: 'answered', value, tookMs: this.#now() - sentAtMs });
        },
        (error: unknown) => {
          this.#ended(call);
          // Without effect for a call that was given up.
          resolve({ kind: 'failed', error });
        },
      );
    });
  }

  close(): void {
    for (const call of this.#calls) call.giveUp();
    this.#calls.clear();
    this.#clearTimer();
  }

  /** Whether the call was still waiting. */
  #ended(call: Call): boolean {
    const isWaiting = this.#calls.delete(call);
    if (this.#calls.size === 0) this.#clearTimer();
    return isWaiting;
  }

  #watch(): void {
    const [first] = this.#calls;
    if (this.#isTimerSet || first === undefined) return;
    this.#isTimerSet = true;
    this.#timer = this.#clock.setTimeout(this.#giveUp, Math.max(0, first.untilMs - this.#now()));
  }

  readonly #giveUp = (): void => {
    this.#isTimerSet = false;
    const nowMs = this.#now();
    for (const call of this.#calls) {
      if (call.untilMs > nowMs) break;
      this.#calls.delete(call);
      call.giveUp();
    }
    this.#watch();
  };

  #clearTimer(): void {
    if (this.#isTimerSet) this.#clock.clearTimeout(this.#timer);
    this.#isTimerSet = false;
  }
}

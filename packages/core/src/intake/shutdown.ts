import { checkNames, checkNumber, type Clock, DAY_MS, holdTimer } from '@webhook-backpressure/base';
import type { Listeners } from '../delivery/events.ts';
import type { CloseReport } from './intake.ts';
import type { Ledger } from '../delivery/ledger.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** What a shutdown works with. */
export interface ShutdownParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly ledger: Ledger;
  readonly listeners: Listeners;
  readonly active: () => number;
  readonly depth: () => number;
  /** Ends the timers and the workers. Deliveries that are being handled may end later. */
  readonly stop: () => void;
  /** Refuses all queued deliveries, and returns how many. */
  readonly withdrawAll: () => number;
}

/** The end of an intake: the queue is drained until a timeout, then the rest of it is refused. */
export class Shutdown {
  phase: 'open' | 'closing' | 'closed' = 'open';
  readonly #parts: ShutdownParts;
  #report: Promise<CloseReport> | undefined;
  #finish: (() => void) | undefined;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
  }

  begin(options: { timeoutMs?: number | undefined }): Promise<CloseReport> {
    checkNames(options, 'close()', ['timeoutMs'], 'ERR_WBP_CLOSE');
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    checkNumber('ERR_WBP_CLOSE', 'timeoutMs', timeoutMs, 0, DAY_MS, 'milliseconds');
    if (this.#report === undefined) {
      let resolve: ((report: CloseReport) => void) | undefined;
      this.#report = new Promise((settle) => {
        resolve = settle;
      });
      // Not inside the promise: a listener of the end may call close again, which must find the report.
      this.#start(timeoutMs, (report) => resolve?.(report));
    }
    return this.#report;
  }

  finishIfEmpty(): void {
    if (this.#finish !== undefined && this.#parts.depth() + this.#parts.active() === 0) this.#finish();
  }

  #start(timeoutMs: number, resolve: (report: CloseReport) => void): void {
    this.phase = 'closing';
    const { clock, now, active, ledger, listeners, stop, withdrawAll } = this.#parts;
    const done = (): number => ledger.completed + ledger.failed;
    const doneBefore = done();
    this.#finish = (): void => {
      this.#finish = undefined;
      clock.clearTimeout(timer);
      const refused = withdrawAll();
      this.phase = 'closed';
      stop();
      const report = { completed: done() - doneBefore, refused, remaining: active() };
      listeners.emit(now(), { type: 'closed', ...report });
      resolve(report);
    };
    const timer = clock.setTimeout(this.#finish, timeoutMs);
    // The caller that awaits the report may have nothing else that keeps the process alive.
    holdTimer(timer);
    this.finishIfEmpty();
  }
}

import { holdTimer, type Clock } from '../time/clock.ts';
import type { Dispatcher } from '../workers/dispatcher.ts';
import { invalid } from '../errors.ts';
import type { Listeners } from '../delivery/events.ts';
import type { CloseReport } from './intake.ts';
import type { Ledger } from '../delivery/ledger.ts';
import { checkNames } from '../option-names.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 86_400_000;

/** The end of an intake: what waits is worked off until a timeout, then what is left is refused. */
export class Shutdown {
  phase: 'open' | 'closing' | 'closed' = 'open';
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #dispatcher: Dispatcher;
  readonly #ledger: Ledger;
  readonly #listeners: Listeners;
  #report: Promise<CloseReport> | undefined;
  #finish: (() => void) | undefined;

  constructor(clock: Clock, now: () => number, dispatcher: Dispatcher, ledger: Ledger, listeners: Listeners) {
    this.#clock = clock;
    this.#now = now;
    this.#dispatcher = dispatcher;
    this.#ledger = ledger;
    this.#listeners = listeners;
  }

  begin(options: { timeoutMs?: number | undefined }): Promise<CloseReport> {
    checkNames(options, 'the argument of close', ['timeoutMs'], 'ERR_WBP_CLOSE');
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    if (!(typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
      throw invalid('ERR_WBP_CLOSE', 'timeoutMs', 'a number of milliseconds from 0 to 86,400,000', timeoutMs);
    }
    if (this.#report === undefined) {
      let resolve: ((report: CloseReport) => void) | undefined;
      this.#report = new Promise((settle) => {
        resolve = settle;
      });
      // Not inside the promise: a listener that hears of the end may call close again and must find it there.
      this.#start(timeoutMs, (report) => resolve?.(report));
    }
    return this.#report;
  }

  finishIfEmpty(): void {
    if (this.#dispatcher.held === 0) this.#finish?.();
  }

  #start(timeoutMs: number, resolve: (report: CloseReport) => void): void {
    this.phase = 'closing';
    const done = (): number => this.#ledger.completed + this.#ledger.failed;
    const doneBefore = done();
    this.#finish = (): void => {
      this.#finish = undefined;
      this.#clock.clearTimeout(timer);
      const refused = this.#dispatcher.withdrawAll();
      this.phase = 'closed';
      this.#dispatcher.stop();
      const report = { completed: done() - doneBefore, refused, remaining: this.#dispatcher.active };
      this.#listeners.emit(this.#now(), { type: 'closed', ...report });
      resolve(report);
    };
    const timer = this.#clock.setTimeout(this.#finish, timeoutMs);
    // Whoever awaits the report may have nothing else that keeps the process alive.
    holdTimer(timer);
    this.finishIfEmpty();
  }
}

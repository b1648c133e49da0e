import { show } from '../errors.ts';
import type { Agenda } from './agenda.ts';
import type { InboxReport } from './inbox-report.ts';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/** Whether the store works. When it does not, all that need it wait together, longer from failure to failure. */
export class StoreHealth {
  readonly #agenda: Agenda;
  readonly #report: InboxReport;
  #failures = 0;
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  constructor(agenda: Agenda, report: InboxReport) {
    this.#agenda = agenda;
    this.#report = report;
  }

  get isWell(): boolean {
    return this.#failures === 0;
  }

  worked(): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#resume?.();
    this.#report.emit({ type: 'store-recovered' });
  }

  failed(call: string, error: unknown): void {
    this.#report.totals.storeFailures += 1;
    this.#report.emit({ type: 'store-failed', call, error: messageOf(error) });
    // Those that fail together are one failure: none of them has waited yet.
    this.#pause ??= this.#wait();
  }

  /** Resolves when it is worth another try: at once while the store works. */
  async rest(): Promise<void> {
    await this.#pause;
  }

  async #wait(): Promise<void> {
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    const recovered = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    await Promise.race([this.#agenda.pause(delayMs), recovered]);
    this.#pause = undefined;
  }
}

/** What was thrown, in words; it may be anything. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : show(error);
  // Whatever the types say, libraries write other things there; a store could not keep them.
  const message: unknown = error.message;
  if (message === '' || message === undefined) return error.name;
  return typeof message === 'string' ? message : show(message);
}

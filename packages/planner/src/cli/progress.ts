import { duration } from '../base/format.ts';
import type { Configuration } from '../search/configuration.ts';
import { optionsText } from '../search/code.ts';

/** Faster answers need no report. */
const SILENT_MS = 1000;

/** Reports the simulations of an answer that takes longer than a second. */
export class Progress {
  readonly #report: (text: string) => void;
  readonly #now: () => number;
  readonly #startedMs: number;

  /** @param now - the time, in milliseconds. */
  constructor(report: (text: string) => void, now: () => number) {
    this.#report = report;
    this.#now = now;
    this.#startedMs = now();
  }

  readonly onRun = ({ mode, options, concurrency }: Configuration, run: number): void => {
    if (this.#passedMs() < SILENT_MS) return;
    const shown = mode === 'none' ? 'no middleware' : mode;
    this.#report(
      `Simulating configuration ${String(run)}: ${shown}, ${optionsText({ concurrency, ...options })}`,
    );
  };

  end(): void {
    if (this.#passedMs() >= SILENT_MS) this.#report(`Took ${duration(this.#passedMs() / 1000)}.`);
  }

  #passedMs(): number {
    return this.#now() - this.#startedMs;
  }
}

import type { Listeners, WarningCode } from './events.ts';

/** Where a warning is shown beside the event: the adapters have a place for it. */
export type Warn = (code: WarningCode, message: string) => void;

/** Warns of each thing once in the life of an intake, since nobody reads the hundredth. */
export class Warnings {
  readonly #listeners: Listeners;
  readonly #show: Warn | undefined;
  readonly #given = new Set<WarningCode>();

  constructor(listeners: Listeners, show: Warn | undefined) {
    this.#listeners = listeners;
    this.#show = show;
  }

  give(code: WarningCode, now: number, sentence: () => string): void {
    if (this.#given.has(code)) return;
    this.#given.add(code);
    const message = sentence();
    this.#show?.(code, message);
    this.#listeners.emit(now, { type: 'warning', code, message });
  }
}

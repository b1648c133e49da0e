import type { Listeners } from '../delivery/events.ts';
import type { Warnings } from '../delivery/warnings.ts';
import { effectiveCapacity, Gate, longestSpan } from '../queue/gate.ts';
import type { Dispatcher } from '../workers/dispatcher.ts';

/** The options of an intake that its water marks depend on. */
export interface WaterMarkSettings {
  readonly capacity: number;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly maxWaitMs: number;
}

/** Moves the water marks with the drain rate, and reports when shedding begins and ends. */
export class WaterMarks {
  readonly gate: Gate = new Gate();
  #settings: WaterMarkSettings;
  readonly #dispatcher: Dispatcher;
  readonly #listeners: Listeners;
  readonly #warnings: Warnings;

  constructor(settings: WaterMarkSettings, dispatcher: Dispatcher, listeners: Listeners, warnings: Warnings) {
    this.#settings = settings;
    this.#dispatcher = dispatcher;
    this.#listeners = listeners;
    this.#warnings = warnings;
    this.measure(0);
  }

  retune(settings: WaterMarkSettings): void {
    this.#settings = settings;
  }

  /** Moves the marks to where the drain rate puts them now. */
  measure(now: number): void {
    const { capacity, maxWaitMs, highWaterMark, lowWaterMark } = this.#settings;
    const drainRate = this.#dispatcher.drain.rate(now);
    this.gate.resize({
      effectiveCapacity: effectiveCapacity(capacity, maxWaitMs, drainRate),
      ...{ highWaterMark, lowWaterMark, span: longestSpan(drainRate) },
    });
  }

  /** Begins or ends shedding, if the depth has reached the mark. */
  judge(now: number): void {
    this.measure(now);
    const { gate } = this;
    const { queue, drain } = this.#dispatcher;
    if (!gate.judge(queue.size)) return;
    queue.isShedding = gate.shedding;
    this.#listeners.emit(now, { type: gate.shedding ? 'shedding' : 'accepting', depth: queue.size });
    if (gate.shedding) this.#warnings.ofLowWater(gate.low, this.#settings.capacity, drain.rate(now), now);
  }
}

import type { ManualClock } from '@webhook-backpressure/core/testing';
import type { ProcessPressure, ProcessPressureOptions } from '@webhook-backpressure/node';
import {
  resolvePressureOptions,
  watchPressure,
  type DelayWatch,
  type Runtime,
} from '../../packages/node/src/pressure.ts';

/** The load of the process from now on. */
export interface Load {
  readonly delayMs?: number;
  readonly utilization?: number;
}

/** A process with simulated measurements. Its counters accumulate from its start, like the real ones. */
export class FakeRuntime implements Runtime {
  /** The number of running measurements. */
  watching = 0;
  readonly #clock: ManualClock;
  #load: Required<Load> = { delayMs: 0, utilization: 0 };
  #worstMs = 0;
  #countedMs = 0;
  #idle = 0;
  #active = 0;
  #listeners = new Set<(heapFraction: number) => void>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  be({ delayMs = 0, utilization = 0 }: Load): void {
    this.#count();
    this.#load = { delayMs, utilization };
  }

  /** Runs one long task, during which no timer fires. */
  block(ms: number): void {
    this.#count();
    this.#clock.jump(ms);
    this.#active += ms;
    this.#countedMs += ms;
    this.#worstMs = ms;
  }

  collect(heapFraction: number): void {
    for (const listener of this.#listeners) listener(heapFraction);
  }

  watchDelay(): DelayWatch {
    this.watching += 1;
    return {
      takeP99Ms: () => {
        const worst = Math.max(this.#worstMs, this.#load.delayMs);
        this.#worstMs = 0;
        return worst;
      },
      stop: () => {
        this.watching -= 1;
      },
    };
  }

  loopTimes(): { idle: number; active: number } {
    this.#count();
    return { idle: this.#idle, active: this.#active };
  }

  onFullCollection(listener: (heapFraction: number) => void): () => void {
    this.#listeners.add(listener);
    this.watching += 1;
    return () => {
      this.#listeners.delete(listener);
      this.watching -= 1;
    };
  }

  #count(): void {
    const passed = this.#clock.now() - this.#countedMs;
    this.#countedMs += passed;
    this.#active += passed * this.#load.utilization;
    this.#idle += passed * (1 - this.#load.utilization);
  }
}

/** `processPressure` with another runtime and clock. */
export function watch(
  clock: ManualClock,
  runtime: Runtime,
  options: ProcessPressureOptions = {},
): ProcessPressure {
  return watchPressure(resolvePressureOptions(options), runtime, clock);
}

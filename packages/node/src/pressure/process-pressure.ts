import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '@webhook-backpressure/base';
import { PressureLatch, type Level } from './pressure-latch.ts';
import {
  resolvePressureOptions,
  type PressureSettings,
  type ProcessPressureOptions,
} from './pressure-options.ts';
import { thisRuntime, type DelayWatch, type Runtime } from './runtime.ts';

/** The measurements of one window. */
export interface ProcessReadings {
  /** The 99th percentile of the event-loop delay, in milliseconds. */
  readonly eventLoopDelayMs: number;
  /** The fraction of the window in which the event loop was not idle, from 0 to 1. */
  readonly eventLoopUtilization: number;
  /**
   * The fraction of V8's heap limit in use after the last full collection, from 0 to 1. Null when there was none in the
   * last ten seconds: a process that runs out of heap collects more often.
   */
  readonly heapFraction: number | null;
}

/** A function for the option `pressure`: whether this process is overloaded. */
export interface ProcessPressure {
  /** Returns the latest result. The first call starts the measuring. */
  (): boolean;
  /** The measurements of the last window. Null before the first one is over, and after `close`. */
  readings(): ProcessReadings | null;
  /** Stops the measuring permanently. From then on there is no pressure. Idempotent. */
  close(): void;
}

/** Pressure ends when every signal is at or below this fraction of its limit. */
const CALM = 0.9;
const HEAP_LASTS_MS = 10_000;

type WindowClock = Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;

/** Measuring must not keep the process alive. */
const unrefClock: WindowClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms).unref(),
  clearTimeout: (handle) => {
    clearTimeout(handle as NodeJS.Timeout);
  },
};

/**
 * Measures the event-loop delay, the event-loop utilization and the heap of this process in windows. While one of them
 * exceeds its limit, an intake with this option refuses deliveries with the reason `pressure`, except those that may use
 * the reserve, such as deliveries of senders that never retry.
 *
 * Measuring starts with the first delivery and takes one timer. The result changes after two consecutive windows at the
 * earliest, so a single pause refuses nothing. The default limits indicate an overloaded process, not a busy one. Several
 * intakes may share the function.
 *
 * @throws BackpressureError `ERR_WBP_PRESSURE` when an option is out of range, and `ERR_WBP_UNKNOWN_OPTION`.
 *
 * @example
 * ```ts
 * app.use('/webhooks', webhookBackpressure({ pressure: processPressure() }))
 * ```
 */
export function processPressure(options: ProcessPressureOptions = {}): ProcessPressure {
  return watchPressure(resolvePressureOptions(options), thisRuntime, unrefClock);
}

/** The same with any runtime and clock. */
export function watchPressure(
  settings: PressureSettings,
  runtime: Runtime,
  clock: WindowClock,
): ProcessPressure {
  const watch = new PressureWatch(settings, runtime, clock);
  // The first request starts it, and its timers must not retain the async context of that request.
  const start = AsyncResource.bind(() => {
    watch.start();
  });
  let isStarted = false;
  const pressure = (): boolean => {
    if (!isStarted) {
      // Set first: a start that throws must not be repeated for each delivery.
      isStarted = true;
      start();
    }
    return watch.isPressed;
  };
  return Object.assign(pressure, {
    readings: () => watch.readings,
    close: () => {
      isStarted = true;
      watch.close();
    },
  });
}

class PressureWatch {
  isPressed = false;
  readings: ProcessReadings | null = null;
  readonly #settings: PressureSettings;
  readonly #runtime: Runtime;
  readonly #clock: WindowClock;
  readonly #latch = new PressureLatch();
  #delay: DelayWatch | undefined;
  #stopHeap: (() => void) | undefined;
  #timer: unknown;
  #loop = { idle: 0, active: 0 };
  #heap = { fraction: 0, atMs: -Infinity };

  constructor(settings: PressureSettings, runtime: Runtime, clock: WindowClock) {
    this.#settings = settings;
    this.#runtime = runtime;
    this.#clock = clock;
  }

  start(): void {
    this.#delay = this.#runtime.watchDelay();
    // Earlier times, such as an idle night, would outweigh a burst.
    this.#loop = this.#runtime.loopTimes();
    // Between collections the heap in use is mostly garbage. Measured at any other time, it would refuse deliveries of a
    // healthy process, which then allocates little, does not collect, and keeps refusing.
    this.#stopHeap = this.#runtime.onFullCollection((fraction) => {
      this.#heap = { fraction, atMs: this.#clock.now() };
    });
    this.#timer = this.#clock.setTimeout(this.#endWindow, this.#settings.windowMs);
  }

  close(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#delay?.stop();
    this.#stopHeap?.();
    this.#timer = this.#delay = this.#stopHeap = undefined;
    this.isPressed = false;
    this.readings = null;
  }

  readonly #endWindow = (): void => {
    this.readings = this.#read();
    this.#latch.judge(this.#levelOf(this.readings));
    this.isPressed = this.#latch.isPressed;
    this.#timer = this.#clock.setTimeout(this.#endWindow, this.#settings.windowMs);
  };

  #read(): ProcessReadings {
    const before = this.#loop;
    this.#loop = this.#runtime.loopTimes();
    const active = this.#loop.active - before.active;
    const total = active + this.#loop.idle - before.idle;
    const isHeapKnown = this.#clock.now() - this.#heap.atMs < HEAP_LASTS_MS;
    return {
      eventLoopDelayMs: this.#delay?.takeP99Ms() ?? 0,
      eventLoopUtilization: total > 0 ? active / total : 0,
      heapFraction: isHeapKnown ? this.#heap.fraction : null,
    };
  }

  #levelOf(readings: ProcessReadings): Level {
    const { maxEventLoopDelayMs, maxEventLoopUtilization, maxHeapFraction } = this.#settings;
    const levels = [
      levelOf(readings.eventLoopDelayMs, maxEventLoopDelayMs),
      levelOfFraction(readings.eventLoopUtilization, maxEventLoopUtilization),
      levelOfFraction(readings.heapFraction ?? 0, maxHeapFraction),
    ];
    if (levels.includes('over')) return 'over';
    return levels.includes('between') ? 'between' : 'calm';
  }
}

function levelOf(value: number, limit: number): Level {
  if (value > limit) return 'over';
  return value > limit * CALM ? 'between' : 'calm';
}

function levelOfFraction(value: number, limit: number): Level {
  // A signal that is switched off must not prolong the pressure of another one.
  return limit === 1 ? 'calm' : levelOf(value, limit);
}

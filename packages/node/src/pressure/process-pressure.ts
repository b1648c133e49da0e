import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '@webhook-backpressure/core';
import { PressureLatch, type Level } from './pressure-latch.ts';
import {
  resolvePressureOptions,
  type PressureSettings,
  type ProcessPressureOptions,
} from './pressure-options.ts';
import { thisRuntime, type DelayWatch, type Runtime } from './runtime.ts';

/** What one window measured. */
export interface ProcessReadings {
  /** The 99th percentile of the event-loop delay, in milliseconds. */
  readonly eventLoopDelayMs: number;
  /** The part of the window in which the event loop was not idle, from 0 to 1. */
  readonly eventLoopUtilization: number;
  /**
   * The part of V8's heap limit that the last full collection left in use, from 0 to 1. Null when there was none in
   * the last ten seconds: a process that is short of heap collects more often than that.
   */
  readonly heapFraction: number | null;
}

/** Whether this process is under pressure: a function for the option `pressure`. */
export interface ProcessPressure {
  /** Reads a flag, and at the first call starts to measure. */
  (): boolean;
  /** What the last window measured; null before the first is over, and after `close`. */
  readings(): ProcessReadings | null;
  /** Stops measuring for good; from then on there is no pressure. More calls do nothing. */
  close(): void;
}

/** Pressure is over when every signal is at most this part of its limit. */
const CALM = 0.9;
const HEAP_LASTS_MS = 10_000;

type WindowClock = Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;

/** Measuring must not keep a process alive. */
const unrefClock: WindowClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms).unref(),
  clearTimeout: (handle) => {
    clearTimeout(handle as NodeJS.Timeout);
  },
};

/**
 * Watches the process's own signals, window by window: the event loop's delay and utilisation, and the heap that is
 * left. While one of them is above its limit, deliveries that may not use the reserve are refused with the reason
 * `pressure`.
 *
 * It costs nothing until it is asked, then one timer and the runtime's own measuring. It changes its mind after two
 * windows in a row at the earliest: a single pause closes nothing, and it does not flap. The limits are those of a
 * process in trouble; one that is merely busy does not meet them. One function may serve several intakes.
 *
 * @throws BackpressureError `ERR_WBP_PRESSURE` when a limit or the window is out of range.
 *
 * @example
 * ```ts
 * app.use('/webhooks', webhookBackpressure({ pressure: processPressure() }))
 * ```
 */
export function processPressure(options: ProcessPressureOptions = {}): ProcessPressure {
  return watchPressure(resolvePressureOptions(options), thisRuntime, unrefClock);
}

/** The same for any runtime and any clock. */
export function watchPressure(
  settings: PressureSettings,
  runtime: Runtime,
  clock: WindowClock,
): ProcessPressure {
  const watch = new PressureWatch(settings, runtime, clock);
  // The first request starts it. Its timers would keep that request's async context for as long as they run.
  const start = AsyncResource.bind(() => {
    watch.start();
  });
  let isStarted = false;
  const pressure = (): boolean => {
    if (!isStarted) {
      // Before the start: one that throws must not be tried anew at each delivery.
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
    // What was before, such as an idle night, would outweigh a burst.
    this.#loop = this.#runtime.loopTimes();
    // The heap in use is mostly garbage that waits for a collection, and once the door is closed little is allocated
    // and nothing collects it: measured at any moment, it would shut out a healthy process and keep it shut.
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
  // A signal that is switched off must not prolong what another one began.
  return limit === 1 ? 'calm' : levelOf(value, limit);
}

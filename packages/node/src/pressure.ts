import { AsyncResource } from 'node:async_hooks';
import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  type PerformanceEntry,
} from 'node:perf_hooks';
import { inspect } from 'node:util';
import { BackpressureError, checkNames, type Clock } from '@webhook-backpressure/base';

/** Options of {@link processPressure}. `undefined` means absent. */
export interface ProcessPressureOptions {
  /**
   * The limit of the 99th percentile of the event-loop delay in a window, in milliseconds. From 1 to 60,000, default 200.
   * In a window of less than a second, the percentile is the longest delay.
   */
  maxEventLoopDelayMs?: number | undefined;
  /**
   * The limit of the fraction of a window in which the event loop is not idle. Above 0 and at most 1, default 0.98. 1
   * switches this signal off.
   */
  maxEventLoopUtilization?: number | undefined;
  /**
   * The limit of the fraction of V8's heap limit in use after a full collection. Above 0 and at most 1, default 0.85. 1
   * switches this signal off.
   */
  maxHeapFraction?: number | undefined;
  /**
   * The length of a window, in milliseconds. From 100 to 60,000, default 500. Two consecutive windows decide, so the
   * result changes after two to three windows.
   */
  windowMs?: number | undefined;
}

/** The options, complete and valid. */
export type PressureSettings = Required<{ [K in keyof ProcessPressureOptions]: number }>;

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

/** The time between two samples on an idle loop. Node counts it as part of the delay. */
const SAMPLE_EVERY_MS = 10;
/** How many consecutive windows must agree. */
const WINDOWS = 2;
/** Pressure ends when every signal is at or below this fraction of its limit. */
const CALM = 0.9;
const HEAP_LASTS_MS = 10_000;

const FRACTION = 'a number above 0 and at most 1';
// The limit is spelled out: `toLocaleString` costs every import of an adapter 12 ms.
const RULES = {
  maxEventLoopDelayMs: {
    fallback: 200,
    min: 1,
    max: 60_000,
    rule: 'a number of milliseconds from 1 to 60,000',
  },
  maxEventLoopUtilization: { fallback: 0.98, min: Number.MIN_VALUE, max: 1, rule: FRACTION },
  maxHeapFraction: { fallback: 0.85, min: Number.MIN_VALUE, max: 1, rule: FRACTION },
  windowMs: { fallback: 500, min: 100, max: 60_000, rule: 'a number of milliseconds from 100 to 60,000' },
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

/** @throws BackpressureError with the code of the first option that is wrong. */
export function resolvePressureOptions(options: ProcessPressureOptions): PressureSettings {
  checkNames(options, 'options', Object.keys(RULES));
  const settle = (name: keyof PressureSettings): number => {
    const { fallback, min, max, rule } = RULES[name];
    const value: unknown = options[name];
    if (value === undefined) return fallback;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    const shown = inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 3 });
    throw new BackpressureError('ERR_WBP_PRESSURE', `${name} must be ${rule}, but was ${shown}.`);
  };
  return {
    maxEventLoopDelayMs: settle('maxEventLoopDelayMs'),
    maxEventLoopUtilization: settle('maxEventLoopUtilization'),
    maxHeapFraction: settle('maxHeapFraction'),
    windowMs: settle('windowMs'),
  };
}

/** The measurements that a runtime provides of its process. */
export interface Runtime {
  /** Starts to measure the event-loop delay. */
  watchDelay(): DelayWatch;
  /** Milliseconds since the loop started, idle and active. */
  loopTimes(): { readonly idle: number; readonly active: number };
  /** Calls back after each full collection with the fraction of the heap limit still in use, until the result is called. */
  onFullCollection(listener: (heapFraction: number) => void): () => void;
}

export interface DelayWatch {
  /** The 99th percentile since the last call, in milliseconds. */
  takeP99Ms(): number;
  stop(): void;
}

type WindowClock = Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;

/** {@link processPressure} with any runtime and clock. */
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
  /** Consecutive windows that contradict `isPressed`. */
  #inRow = 0;
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
    this.#judge(this.readings);
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

  /**
   * Changes the result only after two consecutive windows that agree. A single long pause, such as a full collection or a
   * large JSON body, is over before it is measured. And a load that drops as soon as it is refused must not switch the
   * result with every window.
   */
  #judge({ eventLoopDelayMs, eventLoopUtilization, heapFraction }: ProcessReadings): void {
    const { maxEventLoopDelayMs, maxEventLoopUtilization, maxHeapFraction } = this.#settings;
    const signals: [value: number, limit: number][] = [[eventLoopDelayMs, maxEventLoopDelayMs]];
    // A signal that is switched off must not prolong the pressure of another one.
    if (maxEventLoopUtilization < 1) signals.push([eventLoopUtilization, maxEventLoopUtilization]);
    if (maxHeapFraction < 1) signals.push([heapFraction ?? 0, maxHeapFraction]);

    const contradicts = this.isPressed
      ? signals.every(([value, limit]) => value <= limit * CALM)
      : signals.some(([value, limit]) => value > limit);
    this.#inRow = contradicts ? this.#inRow + 1 : 0;
    if (this.#inRow < WINDOWS) return;
    this.isPressed = !this.isPressed;
    this.#inRow = 0;
  }
}

/** Measuring must not keep the process alive. */
const unrefClock: WindowClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms).unref(),
  clearTimeout: (handle) => {
    clearTimeout(handle as NodeJS.Timeout);
  },
};

/** This process, or this worker thread. */
const thisRuntime: Runtime = {
  watchDelay() {
    const histogram = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS });
    histogram.enable();
    return {
      takeP99Ms() {
        const p99Ms = histogram.percentile(99) / 1e6;
        histogram.reset();
        return Math.max(0, p99Ms - SAMPLE_EVERY_MS);
      },
      stop() {
        histogram.disable();
      },
    };
  },

  loopTimes: () => performance.eventLoopUtilization(),

  onFullCollection(listener) {
    // Loaded only here: it takes a tenth of the time that importing an adapter takes.
    const { getHeapStatistics } = process.getBuiltinModule('node:v8');
    const observer = new PerformanceObserver((list) => {
      if (!list.getEntries().some(isFullCollection)) return;
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      listener(Math.min(1, used / limit));
    });
    observer.observe({ entryTypes: ['gc'] });
    return () => {
      observer.disconnect();
    };
  },
};

function isFullCollection(entry: PerformanceEntry): boolean {
  if (!('detail' in entry)) return false;
  const { detail } = entry;
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false;
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

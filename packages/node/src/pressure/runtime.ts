import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  type PerformanceEntry,
} from 'node:perf_hooks';

/** What the process can say of itself, as the runtime counts it. */
export interface Runtime {
  /** Starts to measure how late the event loop is. */
  watchDelay(): DelayWatch;
  /** Milliseconds since the loop started, idle and not. */
  loopTimes(): { readonly idle: number; readonly active: number };
  /**
   * Calls back after each full collection with the part of the heap limit that is still in use.
   *
   * @returns stops it.
   */
  onFullCollection(listener: (heapFraction: number) => void): () => void;
}

export interface DelayWatch {
  /** The 99th percentile since the last call, in milliseconds. */
  takeP99Ms(): number;
  stop(): void;
}

/** What is between two samples on an idle loop; node counts it as part of the delay. */
const SAMPLE_EVERY_MS = 10;

/** This process, or this worker thread. */
export const thisRuntime: Runtime = {
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

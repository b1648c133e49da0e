import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  type PerformanceEntry,
} from 'node:perf_hooks';

/** The measurements that a runtime provides of its process. */
export interface Runtime {
  /** Starts to measure the event-loop delay. */
  watchDelay(): DelayWatch;
  /** Milliseconds since the loop started, idle and active. */
  loopTimes(): { readonly idle: number; readonly active: number };
  /**
   * Calls back after each full collection with the fraction of the heap limit still in use.
   *
   * @returns a function that stops this.
   */
  onFullCollection(listener: (heapFraction: number) => void): () => void;
}

export interface DelayWatch {
  /** The 99th percentile since the last call, in milliseconds. */
  takeP99Ms(): number;
  stop(): void;
}

/** The time between two samples on an idle loop. Node counts it as part of the delay. */
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

import type { SenderParts } from './sender-parts.ts';
import { SenderMonitor } from './watch/sender-monitor.ts';

/** Creates the monitor of a sender when someone looks, because its figures cost something. */
export class SenderMonitoring {
  readonly #parts: SenderParts;
  #hasEnded = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Begins to measure the windows and to judge the alarms, unless that has begun. */
  look(nowMs: number): SenderMonitor {
    const { report } = this.#parts;
    if (report.monitor !== null) return report.monitor;
    const monitor = (report.monitor = createMonitor(this.#parts, nowMs));
    if (this.#hasEnded) monitor.end(nowMs);
    return monitor;
  }

  /** Ends all alarms permanently. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.#parts.report.monitor?.end(nowMs);
  }
}

function createMonitor(parts: SenderParts, nowMs: number): SenderMonitor {
  const { settings, now, report, level, health, sendingHealth, destinations } = parts;
  return new SenderMonitor(
    {
      ...{ clock: settings.clock, now, listeners: report.listeners, settings: settings.alarms },
      depth: () => level.depth,
      storeFailingMs: () => Math.max(health.failingMs, sendingHealth.failingMs),
      queuedOf: (id) => destinations.find(id)?.queued ?? 0,
      forEachQueued: (action) => {
        for (const { id, queued } of destinations.values()) if (queued > 0) action(id, queued);
      },
      emit: (at, event) => {
        report.listeners.emit(at, event);
      },
    },
    nowMs,
  );
}

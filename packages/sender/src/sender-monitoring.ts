import type { SenderParts } from './sender-parts.ts';
import { SenderMonitor } from './watch/sender-monitor.ts';

/** Measures the windows of a sender's endpoints, and judges its alarms. */
export function monitorOf(parts: SenderParts, nowMs: number): SenderMonitor {
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

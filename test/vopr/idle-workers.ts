import type { HistoryEvent } from '@webhook-backpressure/core/testing';
import type { Plan } from './plan.ts';

/** Maintenance finds after 5 s what the workers have overlooked. Claims and timers of a run without faults take less. */
const MOST_MS = 1000;

interface Line {
  due: number;
  active: number;
  /** Since when its next delivery could have been started. */
  sinceMs: number | undefined;
  /** When the next token of its limit is there. */
  tokenAtMs: number;
}

/** Whether a plan says when each delivery must start: nothing fails, and one process does all. */
export function isSteady({ kind, roles, faults, deliveries, options }: Plan): boolean {
  const { maxStartsPerSecond, batches, coalesces } = options;
  if (kind !== 'inboxes' || roles.length > 1 || faults.length > 0) return false;
  if (maxStartsPerSecond !== undefined || batches > 0 || coalesces) return false;
  return deliveries.every(({ acts }) => acts.every(({ does }) => does === 'succeeds'));
}

/** Finds a worker that was free although a delivery was due. */
export function idleWorker({ options }: Plan, seen: readonly HistoryEvent[]): string | undefined {
  const { concurrency, ordered, maxConcurrencyPerKey = Infinity, limits } = options;
  const lines = new Map<string, Line>();
  let active = 0;
  for (const { type, key, atMs } of seen) {
    for (const [name, { sinceMs = Infinity, tokenAtMs }] of lines) {
      const idleMs = atMs - Math.max(sinceMs, tokenAtMs);
      if (idleMs > MOST_MS) return `A worker was idle for ${String(idleMs)} ms, and the key ${name} was due.`;
    }
    if (key == null) continue;
    const line = lines.get(key) ?? { due: 0, active: 0, sinceMs: undefined, tokenAtMs: -Infinity };
    lines.set(key, line);
    const { perSecond = Infinity, burst = 1 } = limits?.[key] ?? {};
    if (type === 'stored') line.due += 1;
    else if (type === 'completed') {
      line.active -= 1;
      active -= 1;
    } else if (type === 'started') {
      line.due -= 1;
      line.active += 1;
      active += 1;
      line.sinceMs = undefined;
      const spacingMs = 1000 / perSecond;
      line.tokenAtMs = Math.max(line.tokenAtMs, atMs - (burst - 1) * spacingMs) + spacingMs;
    }
    for (const [name, one] of lines) {
      const most = Math.min(ordered ? 1 : maxConcurrencyPerKey, limits?.[name]?.maxConcurrent ?? Infinity);
      const mayStart = active < concurrency && one.due > 0 && one.active < most;
      one.sinceMs = mayStart ? (one.sinceMs ?? atMs) : undefined;
    }
  }
  return undefined;
}

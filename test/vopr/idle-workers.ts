import type { HistoryEvent } from '@webhook-backpressure/core/testing';
import type { Plan } from './plan.ts';

/** Maintenance finds after 5 s what the workers have overlooked. Claims and timers, and pauses after failed calls, take less. */
const MOST_MS = 1500;

/** The results of a run. */
const ENDS = new Set(['completed', 'dead', 'failed', 'released']);

interface Line {
  due: number;
  readonly running: Set<string>;
  /** The most concurrent runs. */
  most: number;
  perSecond: number;
  burst: number;
  /** Since when its next delivery could have been started. */
  sinceMs: number | undefined;
  /** When the next token of its limit is there, or the head of an ordered key is due again. */
  earliestMs: number;
}

/** Whether a plan says when each delivery must start: little fails, and one process does all. */
export function isSteady({ kind, roles, faults, deliveries, options }: Plan): boolean {
  const { maxStartsPerSecond, batches, coalesces } = options;
  if (kind === 'intakes' || roles.length > 1) return false;
  if (kind === 'inboxes' && (maxStartsPerSecond !== undefined || batches > 0 || coalesces)) return false;
  const acts = deliveries.flatMap((one) => one.acts);
  // More failures would be an outage.
  if (acts.filter(({ does }) => does === 'fails').length > 4) return false;
  return (
    faults.every((one) => one.what === 'tunes' || (one.what === 'call' && one.how === 'fails-before')) &&
    acts.every(({ does, ms }) => (does === 'succeeds' || does === 'fails') && ms < options.maxHandlingMs)
  );
}

/** Finds a worker that was free although a delivery was due. */
export function idleWorker({ options, kind }: Plan, seen: readonly HistoryEvent[]): string | undefined {
  const lines = new Map<string, Line>();
  let concurrency = Infinity;
  let active = 0;
  const retries = seen.flatMap((one) => {
    const { type, untilMs } = one;
    return (type === 'failed' || type === 'released') && untilMs !== undefined
      ? [{ ...one, type: 'due', atMs: untilMs }]
      : [];
  });
  for (const event of [...seen, ...retries].sort((a, b) => a.atMs - b.atMs)) {
    const { type, key, id = '', atMs, untilMs } = event;
    for (const [name, { sinceMs = Infinity, earliestMs }] of lines) {
      const idleMs = atMs - Math.max(sinceMs, earliestMs);
      if (idleMs > MOST_MS) return `A worker was idle for ${String(idleMs)} ms, and the key ${name} was due.`;
    }
    if (type === 'limits' && key == null) concurrency = event.concurrency ?? concurrency;
    // A pause follows.
    if (type === 'store-failed') for (const one of lines.values()) one.sinceMs &&= atMs;
    if (key != null) {
      const maxConcurrent =
        (kind === 'inboxes' ? options.limits?.[key]?.maxConcurrent : undefined) ?? Infinity;
      const none = { due: 0, running: new Set<string>(), perSecond: Infinity, burst: 1, sinceMs: undefined };
      // A sender learns how many requests of an endpoint may be in flight: at least one.
      const most = Math.min(maxConcurrent, options.ordered || kind === 'senders' ? 1 : Infinity);
      const line: Line = lines.get(key) ?? { ...none, most, earliestMs: -Infinity };
      lines.set(key, line);
      const wasRunning = ENDS.has(type) && line.running.delete(id);
      if (wasRunning) active -= 1;
      if (type === 'limits') {
        line.most = Math.min(line.most, event.concurrency ?? Infinity);
        line.perSecond = event.perSecond ?? line.perSecond;
        line.burst = event.burst ?? line.burst;
      } else if (type === 'stored' || type === 'redriven' || type === 'due') line.due += 1;
      else if (type === 'failed' || type === 'released') {
        // One that had not started is due as before.
        if (!wasRunning) line.due -= 1;
        if (untilMs === undefined) line.due += 1;
        else if (options.ordered) line.earliestMs = Math.max(line.earliestMs, untilMs);
      } else if (type === 'started') {
        line.due -= 1;
        line.running.add(id);
        active += 1;
        line.sinceMs = undefined;
        const spacingMs = 1000 / line.perSecond;
        line.earliestMs = Math.max(line.earliestMs, atMs - (line.burst - 1) * spacingMs) + spacingMs;
      }
    }
    for (const one of lines.values()) {
      const mayStart = active < concurrency && one.due > 0 && one.running.size < one.most;
      one.sinceMs = mayStart ? (one.sinceMs ?? atMs) : undefined;
    }
  }
  return undefined;
}

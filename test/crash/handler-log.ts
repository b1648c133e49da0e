import { readFileSync } from 'node:fs';
import type { HistoryEvent } from '@webhook-backpressure/core/testing';

/** The key and the id of a delivery, or of an event for an endpoint. */
export interface Ref {
  readonly key: string;
  readonly id: string;
}

/** A start or an end of a handler. */
export type Step = HistoryEvent & Ref;

/** The steps of handlers, in order. */
export function readLog(log: string): Step[] {
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Step);
}

/** What `checkHistory` must know beside a log. */
export interface Around {
  readonly acknowledged: readonly Ref[];
  /** The deliveries that the store has completed, in the form of `hashOf`. */
  readonly completed: readonly string[];
  readonly hashOf: (ref: Ref) => string;
  /** Of each process. Absent: not checked. */
  readonly concurrency?: number;
}

/**
 * A log for `checkHistory`. A delivery that the store has completed was completed when its handler ended for the last time.
 * An earlier end was lost with its process, so that run stays open, and `concurrency` limits how many a kill repeats.
 */
export function historyOf(log: readonly (HistoryEvent | Step)[], around: Around): HistoryEvent[] {
  const { acknowledged, completed, hashOf, concurrency } = around;
  const remembered = new Set(completed);
  const lastEnds = new Map<string, HistoryEvent>();
  for (const step of log) if (step.type === 'ended') lastEnds.set(hashOf(step as Step), step);
  const ended = new Set([...lastEnds].filter(([hash]) => remembered.has(hash)).map(([, step]) => step));
  const workers = new Set(log.map(({ worker }) => worker));
  return [
    ...[...workers].map((worker) => ({ type: 'limits', atMs: 0, worker, concurrency })),
    ...log.flatMap((step) =>
      step.type !== 'ended' ? [step] : ended.has(step) ? [{ ...step, type: 'completed' }] : [],
    ),
    ...acknowledged.map(({ key, id }) => ({ type: 'acknowledged', atMs: 0, key, id })),
    { type: 'totals', atMs: 0, counts: { completed: completed.length } },
  ];
}

import { noRefusals } from '@webhook-backpressure/core/extend';
import type { Intake, IntakeEvent } from '@webhook-backpressure/core';
import type { ReadableIntake } from './intake-metrics.ts';
import { KEY_AND_SENDER, type CountsByKey, type Writable } from './key-totals.ts';

type KeyTotals = Writable<ReadableIntake['keyTotals']>;

/** Counts the totals of an intake for each key, from its events. */
export class IntakeCountsByKey implements CountsByKey<ReadableIntake> {
  readonly labels: typeof KEY_AND_SENDER = KEY_AND_SENDER;
  readonly events: ReadonlySet<IntakeEvent['type']> = new Set([
    ...(['refused', 'queued', 'started', 'completed', 'withdrawn', 'overdue'] as const),
  ]);
  readonly #isDryRun: boolean;
  /** The number of the latest admission that was counted. */
  #admitted: number;

  constructor(intake: Intake) {
    this.#isDryRun = intake.dryRun;
    this.#admitted = intake.snapshot().totals.admitted;
  }

  create(): KeyTotals {
    return {
      ...{ arrivals: 0, admitted: 0, started: 0, completed: 0, failed: 0, overdue: 0 },
      refusedByStatus: { 429: noRefusals(), 503: noRefusals() },
      withdrawn: { abandoned: 0, expired: 0, displaced: 0, closing: 0 },
    };
  }

  add(event: IntakeEvent, totals: KeyTotals): void {
    switch (event.type) {
      case 'refused':
        totals.arrivals += 1;
        totals.refusedByStatus[event.status][event.reason] += 1;
        break;
      case 'queued':
        this.#admit(event.sequence, totals);
        break;
      case 'started':
        // One that was queued has been counted.
        if (event.sequence > this.#admitted) this.#admit(event.sequence, totals);
        totals.started += 1;
        break;
      case 'completed':
        totals[event.outcome === 'success' ? 'completed' : 'failed'] += 1;
        break;
      case 'overdue':
        totals.overdue += 1;
        break;
      case 'withdrawn':
        // A dry run handles it nevertheless.
        if (!this.#isDryRun) totals.withdrawn[event.cause] += 1;
        break;
      default:
    }
  }

  #admit(sequence: number, totals: KeyTotals): void {
    this.#admitted = Math.max(this.#admitted, sequence);
    totals.arrivals += 1;
    totals.admitted += 1;
  }
}

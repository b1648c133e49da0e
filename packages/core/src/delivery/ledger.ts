import type { WithdrawalCause } from './events.ts';
import type { RefusalReason } from './refusal.ts';

/** Refusals by reason. */
export type RefusalCounts = Readonly<Record<RefusalReason, number>>;

/** What became of retries that arrived in their booked time, which is from 1 s before the booked second until 60 s after it. */
export interface PromiseCounts {
  /** The retry was admitted. */
  readonly kept: number;
  /** The retry was refused again. */
  readonly missed: number;
}

/**
 * Totals since the intake was created. At any moment
 * `admitted = completed + failed + active + depth + all withdrawn`.
 */
export interface Totals {
  /** Deliveries that arrived: `admitted` and all `refused`. In a dry run, in which refused ones are admitted: `admitted`. */
  readonly arrivals: number;
  /** Deliveries admitted, whether they started or waited. */
  readonly admitted: number;
  /** Deliveries that started. */
  readonly started: number;
  /** Deliveries handled successfully. */
  readonly completed: number;
  /** Deliveries whose handling failed. */
  readonly failed: number;
  /** Permits revoked after `maxHandlingMs`; also counted in `failed`. */
  readonly overdue: number;
  /** Refused at admission, by reason. In a dry run: admitted nevertheless. */
  readonly refused: RefusalCounts;
  /** The same, by status and reason. */
  readonly refusedByStatus: Readonly<Record<429 | 503, RefusalCounts>>;
  /** Refused, at admission or later, although their senders never retry. */
  readonly lossRisk: number;
  /** Withdrawn after admission and before the start, by cause. */
  readonly withdrawn: Readonly<Record<WithdrawalCause, number>>;
  /**
   * Booked retries that arrived in time, each counted at its first arrival. Only deliveries with an id are recognized as
   * retries, and only with the strategy `booked`.
   */
  readonly promises: PromiseCounts;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The running totals. */
export class Ledger {
  admitted = 0;
  started = 0;
  completed = 0;
  failed = 0;
  overdue = 0;
  lossRisk = 0;
  /** Refused with 429, and with 503. Not by status in one object: one with the keys 429 and 503 is slow to read. */
  readonly refused429: Writable<RefusalCounts> = noRefusals();
  readonly refused503: Writable<RefusalCounts> = noRefusals();
  readonly withdrawn = { abandoned: 0, expired: 0, displaced: 0, closing: 0 };
  readonly #isDryRun: boolean;

  constructor(isDryRun: boolean) {
    this.#isDryRun = isDryRun;
  }

  /** A copy that does not change. */
  read(promises: PromiseCounts): Totals {
    const { refused429: tooMany, refused503: unavailable } = this;
    const refused = addUp(tooMany, unavailable);
    return {
      arrivals: this.#isDryRun ? this.admitted : this.admitted + sumOf(refused),
      admitted: this.admitted,
      started: this.started,
      completed: this.completed,
      failed: this.failed,
      overdue: this.overdue,
      lossRisk: this.lossRisk,
      refused,
      refusedByStatus: { 429: { ...tooMany }, 503: { ...unavailable } },
      withdrawn: { ...this.withdrawn },
      promises: { ...promises },
    };
  }
}

/** Counters of refusals, all 0. */
export function noRefusals(): Writable<RefusalCounts> {
  return { shedding: 0, full: 0, wait: 0, displaced: 0, pressure: 0, shed: 0, closing: 0 };
}

/** The sum of two counts, by reason. */
export function addUp(a: RefusalCounts, b: RefusalCounts): RefusalCounts {
  return {
    shedding: a.shedding + b.shedding,
    full: a.full + b.full,
    wait: a.wait + b.wait,
    displaced: a.displaced + b.displaced,
    pressure: a.pressure + b.pressure,
    shed: a.shed + b.shed,
    closing: a.closing + b.closing,
  };
}

function sumOf(counts: RefusalCounts): number {
  const { shedding, full, wait, displaced, pressure, shed, closing } = counts;
  return shedding + full + wait + displaced + pressure + shed + closing;
}

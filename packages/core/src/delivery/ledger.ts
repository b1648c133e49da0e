import type { WithdrawalCause } from './events.ts';
import type { RefusalReason } from './refusal.ts';

/**
 * Totals since the intake was created. At any moment
 * `admitted = completed + failed + active + depth + all withdrawn`.
 */
export interface Totals {
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
  readonly refused: Readonly<Record<RefusalReason, number>>;
  /** Refused, at admission or later, although their senders never retry. */
  readonly lossRisk: number;
  /** Withdrawn after admission and before the start, by cause. */
  readonly withdrawn: Readonly<Record<WithdrawalCause, number>>;
}

/** The running totals. */
export class Ledger implements Totals {
  admitted = 0;
  started = 0;
  completed = 0;
  failed = 0;
  overdue = 0;
  lossRisk = 0;
  readonly refused = { shedding: 0, full: 0, wait: 0, displaced: 0, pressure: 0, shed: 0, closing: 0 };
  readonly withdrawn = { abandoned: 0, expired: 0, displaced: 0, closing: 0 };

  /** A copy that does not change. */
  read(): Totals {
    return {
      admitted: this.admitted,
      started: this.started,
      completed: this.completed,
      failed: this.failed,
      overdue: this.overdue,
      lossRisk: this.lossRisk,
      refused: { ...this.refused },
      withdrawn: { ...this.withdrawn },
    };
  }
}

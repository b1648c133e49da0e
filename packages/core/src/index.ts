export {
  BackpressureError,
  systemClock,
  type BackpressureErrorCode,
  type Clock,
  type Signal,
} from '@webhook-backpressure/base';
export type { Admission, Permit } from './delivery/admission.ts';
export type { AlarmCode, AlarmEvent } from './delivery/alarm-event.ts';
export type { CurrentOptions } from './delivery/current-options.ts';
export type { Delivery } from './delivery/delivery.ts';
export type {
  EventSubject,
  IntakeEvent,
  Listener,
  Outcome,
  SubscribeOptions,
  WarningCode,
  WithdrawalCause,
} from './delivery/events.ts';
export type { FleetMemberSnapshot, FleetSnapshot, FleetState } from './delivery/fleet-snapshot.ts';
export type { PromiseCounts, RefusalCounts, Totals } from './delivery/ledger.ts';
export type { Refusal, RefusalReason } from './delivery/refusal.ts';
export type { IntakeSnapshot, IntakeState } from './delivery/snapshot.ts';
export { createIntake } from './intake/create-intake.ts';
export type { CloseReport, Intake } from './intake/intake.ts';
export type { IntakeOptions, Tunable } from './intake/options.ts';
export type { ConcurrencyRange } from './limits/adaptive-concurrency.ts';
export type { RateRange } from './limits/adaptive-rate.ts';
export type { MiddlewareOptions } from './middleware/middleware-options.ts';
export type { BackpressureInfo } from './middleware/handling.ts';
export type { Closable, ReadinessAnswer } from './middleware/readiness.ts';
export { sizeQueue } from './queue/size-queue.ts';

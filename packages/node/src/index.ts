export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { closeOnSignals, readiness, type CloseOnSignalsOptions } from './shutdown/close-on-signals.ts';
export {
  processPressure,
  type ProcessPressure,
  type ProcessPressureOptions,
  type ProcessReadings,
} from './pressure.ts';
export { withBackpressure, type RequestListener, type WithBackpressureOptions } from './with-backpressure.ts';

export { BackpressureError, createIntake, sizeQueue, systemClock } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { closeOnSignals, type CloseOnSignalsOptions } from './shutdown/close-on-signals.ts';
export type { ProcessPressureOptions } from './pressure/pressure-options.ts';
export { processPressure, type ProcessPressure, type ProcessReadings } from './pressure/process-pressure.ts';
export { readiness } from './readiness.ts';
export { withBackpressure, type RequestListener, type WithBackpressureOptions } from './with-backpressure.ts';

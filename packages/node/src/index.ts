export { closeOnSignals, type CloseOnSignalsOptions } from './shutdown/close-on-signals.ts';
export { boundBody, Entrance, type Answers, type Verdict } from './request.ts';
export { inboxRequest, webhookInbox } from './inbox.ts';
export type { ProcessPressureOptions } from './pressure/pressure-options.ts';
export { processPressure, type ProcessPressure, type ProcessReadings } from './pressure/process-pressure.ts';
export { readiness } from './readiness.ts';
export { nodeReader } from './request/reader.ts';
export { setHeaders, writeRefusal } from './request/refuse.ts';
export { withBackpressure, type RequestListener, type WithBackpressureOptions } from './with-backpressure.ts';

export { closeOnSignals, type CloseOnSignalsOptions } from './close-on-signals.ts';
export { Entrance, type Answers, type Verdict } from './enter.ts';
export { inboxRequest, webhookInbox } from './inbox.ts';
export type { ProcessPressureOptions } from './pressure-options.ts';
export { processPressure, type ProcessPressure, type ProcessReadings } from './process-pressure.ts';
export { readiness } from './readiness.ts';
export { nodeReader } from './reader.ts';
export { boundBody, setHeaders, writeRefusal } from './refuse.ts';
export { withBackpressure, type RequestListener, type WithBackpressureOptions } from './with-backpressure.ts';

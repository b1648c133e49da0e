export { closeOnSignals, type CloseOnSignalsOptions } from './close-on-signals.ts';
export { enter, type Verdict } from './enter.ts';
export { nodeReader } from './reader.ts';
export { boundBody, setHeaders, writeRefusal } from './refuse.ts';
export { withBackpressure, type RequestListener, type WithBackpressureOptions } from './with-backpressure.ts';

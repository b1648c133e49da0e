// For apps on @hono/node-server. The main entry imports nothing of node, so that it runs on Workers too.
export { closeOnSignals, processPressure } from '@webhook-backpressure/node';
export type { CloseOnSignalsOptions, ProcessPressureOptions } from '@webhook-backpressure/node';

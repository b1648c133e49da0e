export type { EventLogger, LogEventsOptions, LogFields, LogLevel } from './logs/event-logger.ts';
export type { EventSource } from './logs/event-source.ts';
export { logEvents } from './logs/log-events.ts';
export { inboxMetrics } from './metrics/inbox-metrics.ts';
export { intakeMetrics } from './metrics/intake-metrics.ts';
export type { Attributes, HistogramSample, Metric, Sample, ValueSample } from './metrics/metric.ts';
export type { RecordListener } from './metrics/metrics-reader.ts';
export {
  type MetricsOptions,
  type MetricsReader,
  type MetricsSource,
  readMetrics,
} from './metrics/read-metrics.ts';
export { senderMetrics } from './metrics/sender-metrics.ts';
export type { Observation, ObservationReading, ObserveOptions } from './observation.ts';
export { observe } from './observe.ts';
export { type ObservedIntakeSnapshot, observedSnapshots } from './observed-snapshots.ts';
export type {
  DisableReason,
  EndpointAttempt,
  EndpointWait,
  SenderAlarmEvent,
  SenderEvent,
  SenderListener,
} from './outbox/sender-events.ts';
export type {
  ActiveSenderAlarm,
  EndpointSnapshot,
  EndpointState,
  EndpointWindow,
  RateAudit,
  SenderSnapshot,
} from './outbox/sender-snapshot.ts';
export type { SenderTotals } from './outbox/sender-totals.ts';
export type { Endpoints, ObservableSender, Rate, SenderCloseReport } from './outbox/sender.ts';

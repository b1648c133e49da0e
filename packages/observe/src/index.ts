export type { AlarmOptions, InboxAlarmOptions, OutboxAlarmOptions } from './alarms/alarm-options.ts';
export type { ActiveAlarm } from './alarms/alarm.ts';
export type { EventLogger, LogFields } from './logs/event-log.ts';
export type { LogLevel } from './logs/lines.ts';
export { logEvents, type EventSource, type LogEventsOptions } from './logs/log-events.ts';
export { inboxMetrics } from './metrics/inbox-metrics.ts';
export { intakeMetrics } from './metrics/intake-metrics.ts';
export type { Attributes, HistogramSample, Metric, Sample, ValueSample } from './metrics/metric.ts';
export type { MetricsReader, RecordListener } from './metrics/metrics-reader.ts';
export { readMetrics, type MetricsOptions, type MetricsSource } from './metrics/read-metrics.ts';
export { outboxMetrics } from './metrics/outbox-metrics.ts';
export { notify, type NoticeEvents, type NotifyOptions } from './notices/notify.ts';
export type { Notice, NoticeAlarm, NoticeCount } from './notices/notice.ts';
export type { NoticeReceiver, NoticeSender } from './notices/receivers.ts';
export {
  observe,
  observedSnapshots,
  type Observation,
  type ObservationReading,
  type ObservedInboxSnapshot,
  type ObservedIntakeSnapshot,
  type ObservedOutboxSnapshot,
  type ObserveOptions,
  type OutboxReading,
} from './observe.ts';
export type { OutboxHandle, OutboxMonitor } from './outbox/outbox-monitor.ts';
export type {
  DisableReason,
  EndpointAttempt,
  EndpointWait,
  OutboxAlarmEvent,
  OutboxEvent,
  OutboxListener,
} from './outbox/outbox-events.ts';
export type {
  ActiveOutboxAlarm,
  EndpointSnapshot,
  EndpointState,
  EndpointWindow,
  Endpoints,
  ObservableOutbox,
  Rate,
  RateAudit,
  OutboxCloseReport,
  OutboxSnapshot,
  OutboxTotals,
} from './outbox/sender.ts';
export type { NamedFigures, Percentiles, Window, WindowFigures, Windows } from './windows/windows.ts';

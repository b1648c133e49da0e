export type { ConcurrencyRange } from './limits/adaptive-concurrency.ts';
export type { RateRange } from './limits/adaptive-rate.ts';
export type {
  AlarmOptions,
  AlarmSettings,
  InboxAlarmOptions,
  InboxAlarmSettings,
  SenderAlarmOptions,
  SenderAlarmSettings,
} from './alarms/alarm-options.ts';
export type { ActiveAlarm, AlarmCode, AlarmEvent } from './alarms/alarm.ts';
export type { NamedFigures, Percentiles, Window, WindowFigures, Windows } from './windows/windows.ts';
export { systemClock, type Clock } from './time/clock.ts';
export { createIntake } from './intake/create-intake.ts';
export type { Delivery } from './delivery/delivery.ts';
export { BackpressureError, thrownText, type BackpressureErrorCode } from './errors.ts';
export type {
  EventSubject,
  IntakeEvent,
  Listener,
  Outcome,
  SubscribeOptions,
  WarningCode,
  WithdrawalCause,
} from './delivery/events.ts';
export type { CloseReport, Intake } from './intake/intake.ts';
export { checkNames } from './option-names.ts';
export type { PromiseCounts, RefusalCounts, Totals } from './delivery/ledger.ts';
export type { IntakeOptions, Tunable } from './intake/options.ts';
export type { Admission, Permit } from './delivery/admission.ts';
export type { Refusal, RefusalReason } from './delivery/refusal.ts';
export {
  beginDraining,
  closablesOf,
  createReadiness,
  isProbed,
  type Closable,
  type Readiness,
  type ReadinessAnswer,
  type ReadinessStatus,
} from './middleware/readiness.ts';
export { sizeQueue } from './queue/size-queue.ts';
export { TimeLimit } from './time/time-limit.ts';
export type { CurrentOptions } from './delivery/current-options.ts';
export type { FleetMemberSnapshot, FleetSnapshot, FleetState } from './delivery/fleet-snapshot.ts';
export type { FleetOptions } from './fleet/fleet-options.ts';
export { joinFleet, type Fleet } from './fleet/join-fleet.ts';
export type { FleetBeat, FleetMember, FleetNews, FleetRegistry, FleetView } from './fleet/registry.ts';
export type { IntakeSnapshot, IntakeState } from './delivery/snapshot.ts';
export { boundToThisContext } from './base/async-context.ts';
export { Handling, type BackpressureInfo } from './middleware/handling.ts';
export {
  createAdmissionControl,
  type AdmissionControl,
  type MiddlewareOptions,
  type RequestReader,
} from './middleware/admission-control.ts';
export {
  cloudEventsHandshake,
  type CloudEventsHandshakeOptions,
  type HandshakeAnswer,
} from './senders/cloudevents-handshake.ts';
export type {
  FailedAttempt,
  HeaderMatch,
  HeaderSenderProfile,
  RequestHeaders,
  RetryAfterHabit,
  RetrySchedule,
  SenderProfile,
  SwitchOffRule,
} from './senders/sender-profile.ts';
export { builtInSenders } from './senders/profiles/built-in.ts';
export * as known from './senders/profiles/known.ts';
export type { Warn } from './delivery/warnings.ts';
export type { Awaitable, DeliveryRef, StoredDelivery } from './inbox/delivery/stored-delivery.ts';
export { storedBytes } from './inbox/delivery/stored-bytes.ts';
export type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DueKey,
  DueKeys,
  InboxStore,
  KeyClaim,
  KeyWant,
  OpenedStore,
  Settlement,
  StoreStats,
} from './inbox/store/inbox-store.ts';
export type {
  OpenedReceivingStore,
  Put,
  PutResult,
  ReceivingStats,
  ReceivingStore,
  StoreLimits,
} from './inbox/store/receiving-store.ts';
export { areOtherBodies, bodySum, type Summed } from './inbox/delivery/body-sum.ts';
export type { StoreEvent } from './inbox/store/store-event.ts';
export type {
  ListedCompleted,
  ListedDelivery,
  ListedPending,
  Counted,
  MovedDelivery,
  PageQuery,
  PendingState,
  Portion,
  ShelfScope,
  ShelvedDelivery,
  StoreAdmin,
  StoredCompleted,
  StoredPage,
  StoredPending,
  WithoutBody,
} from './inbox/store/store-admin.ts';
export { memoryStore } from './inbox/store/memory/memory-store.ts';
export {
  bodyTimedOut,
  isDelivery,
  METHOD_NOT_ALLOWED,
  type BodyTimedOut,
} from './inbox/receive/inbox-answers.ts';
export { createInbox, createWorker } from './inbox/create-inbox.ts';
export type { EncryptOptions } from './inbox/encryption/encrypt-options.ts';
export type { Json } from './inbox/delivery/json.ts';
export type { RequestFacts, RequestParts } from './inbox/delivery/request-facts.ts';
export type { InboxWarningCode, SenderWarningCode } from './inbox/events/process-warnings.ts';
export { throwing } from './inbox/receive/verification.ts';
export { verifiers } from './verifiers.ts';
export type { TimedVerifierOptions, VerifierOptions } from './verifiers/body-verifiers.ts';
export type { Secret, SecretOption } from './verifiers/secrets.ts';
export type { HubSpotVerifierOptions, TwilioVerifierOptions, UrlOptions } from './verifiers/url-verifiers.ts';
export type { Verifier } from './verifiers/verifier.ts';
export type { Signal } from './base/abort.ts';
export { inboxDelivery, type InboxDelivery, type RawDelivery } from './inbox/delivery/inbox-delivery.ts';
export type { EventAttempt, InboxEvent, InboxListener } from './inbox/events/inbox-events.ts';
export { RetryAfter, Unrecoverable } from './inbox/work/retry-errors.ts';
export type {
  HandshakeReply,
  InboxOptions,
  InboxTunable,
  ProcessContext,
  RetryOptions,
  SuccessStatusOptions,
} from './inbox/options/inbox-options.ts';
export type {
  ReceiverOptions,
  ReceivingOption,
  WorkerOptions,
  WorkingOption,
} from './inbox/options/role-options.ts';
export type { InboxRole } from './inbox/options/roles.ts';
export type { CurrentInboxOptions } from './inbox/options/current-inbox-options.ts';
export type { Inbox, InboxCloseReport, InboxSnapshot } from './inbox/inbox.ts';
export type { InboxAnswer } from './inbox/receive/inbox-answers.ts';
export type { BodyEnd, BodySink, InboxRequest } from './inbox/receive/inbox-request.ts';
export type { InboxTotals } from './inbox/events/inbox-totals.ts';
export type {
  DeadLetterScope,
  PageOptions,
  RedriveOptions,
  RedriveProgress,
} from './inbox/admin/call-options.ts';
export type { Completed, CompletedDelivery, ListedCompletedDelivery } from './inbox/admin/completed.ts';
export type {
  DisableReason,
  EndpointAttempt,
  EndpointWait,
  SenderAlarmEvent,
  SenderEvent,
  SenderListener,
} from './outbox/sender-events.ts';
export type { Endpoints, ObservableSender, Rate, SenderCloseReport } from './outbox/sender.ts';
export type {
  ActiveSenderAlarm,
  EndpointSnapshot,
  EndpointState,
  EndpointWindow,
  RateAudit,
  SenderSnapshot,
} from './outbox/sender-snapshot.ts';
export type { BucketLimit, Buckets, BucketsEvent, BucketsOptions, TokenGrant } from './buckets/buckets.ts';
export type { SenderTotals } from './outbox/sender-totals.ts';
export { inboxMetrics } from './metrics/inbox-metrics.ts';
export { intakeMetrics } from './metrics/intake-metrics.ts';
export type { Attributes, HistogramSample, Metric, Sample, ValueSample } from './metrics/metric.ts';
export type { RecordListener } from './metrics/metrics-reader.ts';
export {
  readMetrics,
  type MetricsOptions,
  type MetricsReader,
  type MetricsSource,
} from './metrics/read-metrics.ts';
export { senderMetrics } from './metrics/sender-metrics.ts';
export type { DeadLetter, DeadLetters, ListedDeadLetter } from './inbox/admin/dead-letters.ts';
export type { Listed, Page } from './inbox/admin/listing.ts';
export type { ListedPendingDelivery, Pending, PendingDelivery } from './inbox/admin/pending.ts';
export type { EventLogger, LogEventsOptions, LogFields, LogLevel } from './logs/event-logger.ts';
export type { EventSource } from './logs/event-source.ts';
export { logEvents } from './logs/log-events.ts';
export type { Observation, ObservationReading, ObserveOptions } from './observe/observation.ts';
export { observe } from './observe/observe.ts';
export type { ObservedIntakeSnapshot } from './observe/observed-snapshots.ts';

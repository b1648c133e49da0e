export type { ConcurrencyRange } from './adaptive-concurrency.ts';
export type { RateRange } from './adaptive-rate.ts';
export type { Clock } from './clock.ts';
export { createIntake } from './create-intake.ts';
export type { Delivery } from './delivery.ts';
export { BackpressureError, thrownText, type BackpressureErrorCode } from './errors.ts';
export type { IntakeEvent, Listener, Outcome, WarningCode, WithdrawalCause } from './events.ts';
export type { CloseReport, Intake } from './intake.ts';
export { checkNames } from './names.ts';
export type { Totals } from './ledger.ts';
export type { IntakeOptions, Tunable } from './options.ts';
export type { Admission, Permit } from './place.ts';
export type { Refusal, RefusalReason } from './refusal.ts';
export {
  beginDraining,
  closablesOf,
  createReadiness,
  isProbed,
  type Closable,
  type Readiness,
  type ReadinessAnswer,
  type ReadinessStatus,
} from './readiness.ts';
export { sizeQueue } from './size-queue.ts';
export { TimeLimit } from './time-limit.ts';
export type { IntakeSnapshot, IntakeState } from './snapshot.ts';
export { boundToThisContext } from './async-context.ts';
export { Handling, type BackpressureInfo } from './handling.ts';
export { createDoor, type Door, type MiddlewareOptions, type RequestReader } from './middleware.ts';
export {
  cloudEventsHandshake,
  type CloudEventsHandshakeOptions,
  type HandshakeAnswer,
} from './cloudevents-handshake.ts';
export type {
  HeaderMatch,
  RequestHeaders,
  RetryAfterHabit,
  SenderProfile,
  SwitchOffRule,
} from './sender-profile.ts';
export { builtInSenders } from './senders.ts';
export type { Warn } from './warnings.ts';
export type { Awaitable, DeliveryRef, StoredDelivery } from './inbox/stored-delivery.ts';
export {
  storedBytes,
  type ClaimedDelivery,
  type ClaimOptions,
  type ClaimRef,
  type InboxStore,
  type OpenedStore,
  type Put,
  type PutResult,
  type Settlement,
  type StoreLimits,
  type StoreStats,
} from './inbox/inbox-store.ts';
export { areOtherBodies, bodySum, type Summed } from './inbox/body-sum.ts';
export { PartSize } from './inbox/part-size.ts';
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
} from './inbox/store-admin.ts';
export { memoryStore } from './inbox/memory-store.ts';
export { BODY_TIMED_OUT, isDelivery, METHOD_NOT_ALLOWED } from './inbox/inbox-answers.ts';
export { createInbox } from './inbox/create-inbox.ts';
export type { EncryptOptions } from './inbox/encrypt-options.ts';
export type { Json } from './inbox/json.ts';
export type { RequestFacts, RequestParts } from './inbox/request-facts.ts';
export type { InboxWarningCode } from './inbox/unheard.ts';
export { throwing } from './inbox/verification.ts';
export { verifiers } from './verifiers.ts';
export type { TimedVerifierOptions, VerifierOptions } from './verifiers/body-verifiers.ts';
export type { Secret, SecretOption } from './verifiers/secrets.ts';
export type { HubSpotVerifierOptions, TwilioVerifierOptions, UrlOptions } from './verifiers/url-verifiers.ts';
export type { Verifier } from './verifiers/verifier.ts';
export type { Signal } from './abort.ts';
export type { InboxDelivery, RawDelivery } from './inbox/inbox-delivery.ts';
export type { InboxEvent, InboxListener } from './inbox/inbox-events.ts';
export { RetryAfter, Unrecoverable } from './inbox/retry-errors.ts';
export type {
  HandshakeReply,
  InboxOptions,
  InboxTunable,
  ProcessContext,
  RetryOptions,
} from './inbox/inbox-options.ts';
export type {
  BodyEnd,
  BodySink,
  Inbox,
  InboxAnswer,
  InboxCloseReport,
  InboxRequest,
  InboxSnapshot,
  InboxTotals,
} from './inbox/inbox.ts';
export type {
  DeadLetter,
  DeadLetters,
  DeadLetterScope,
  ListedDeadLetter,
  RedriveOptions,
  RedriveProgress,
} from './inbox/dead-letter-types.ts';
export type {
  Completed,
  CompletedDelivery,
  Listed,
  ListedCompletedDelivery,
  ListedPendingDelivery,
  Page,
  PageOptions,
  Pending,
  PendingDelivery,
} from './inbox/inbox-contents.ts';

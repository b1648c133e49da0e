export { RetryAfter } from '@webhook-backpressure/base';
export type {
  DeadLetterScope,
  DryRun,
  MoveOptions,
  MoveProgress,
  PageOptions,
  RedriveOptions,
  RedriveProgress,
} from './admin/call-options.ts';
export type { CompletedFilter, DeliveryFilter, PendingFilter } from './admin/delivery-filter.ts';
export type { Completed, CompletedDelivery, ListedCompletedDelivery } from './admin/lists.ts';
export type { DeadLetter, DeadLetters, ListedDeadLetter } from './admin/dead-letters.ts';
export type { Listed, Page } from './admin/lists.ts';
export type { ListedPendingDelivery, Pending, PendingDelivery } from './admin/lists.ts';
export { createInbox, createWorker } from './create-inbox.ts';
export { eventTypeOf } from './delivery/event-type.ts';
export { inboxDelivery, type InboxDelivery, type RawDelivery } from './delivery/inbox-delivery.ts';
export type { Json } from './delivery/json.ts';
export type { RequestFacts, RequestParts } from './delivery/request-facts.ts';
export type { Awaitable, DeliveryRef, StoredDelivery } from './delivery/stored-delivery.ts';
export type { EncryptOptions } from './encryption/encryption.ts';
export type { EventAttempt, InboxEvent, InboxListener } from './events/inbox-events.ts';
export type { InboxTotals } from './events/inbox-events.ts';
export type { InboxWarningCode, OutboxWarningCode } from './events/process-warnings.ts';
export type { Inbox, InboxCloseReport, InboxSnapshot } from './inbox.ts';
export type { BatchContext, BatchHandler, BatchOptions } from './options/batch-options.ts';
export type { DeliveryHandler } from './options/inbox-options.ts';
export type { CurrentInboxOptions } from './options/inbox-options.ts';
export type {
  HandshakeReply,
  InboxOptions,
  InboxTunable,
  ProcessContext,
  RetryOptions,
  SuccessStatusOptions,
} from './options/inbox-options.ts';
export type { KeyLimits, KeyPriority, LimitsOfKey } from './options/key-limits.ts';
export type { ReceiverOptions, ReceivingOption, WorkerOptions, WorkingOption } from './options/roles.ts';
export type { InboxRole } from './options/roles.ts';
export type { AddedDelivery, AddOptions, AddResult } from './receive/added-delivery.ts';
export { type InboxAnswer, isForInbox, METHOD_NOT_ALLOWED, mountedForAll } from './receive/inbox-answers.ts';
export type { BodyEnd, BodySink, InboxRequest } from './receive/inbox-request.ts';
export { throwing } from './receive/verification.ts';
export type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DueKey,
  DueKeys,
  InboxStore,
  KeyClaim,
  KeyClaimOptions,
  KeyWant,
  OpenedStore,
  Settlement,
  StoreStats,
} from './store/inbox-store.ts';
export { memoryStore } from './store/memory/memory-store.ts';
export type * from './store/receiving-store.ts';
export type {
  Counted,
  ListedCompleted,
  ListedDelivery,
  ListedPending,
  MovedDelivery,
  PageQuery,
  PendingState,
  Portion,
  DeadLetterFilter,
  StoredDeadLetter,
  StoreAdmin,
  StoredCompleted,
  StoredPage,
  StoredPending,
  WithoutBody,
} from './store/store-admin.ts';
export type {
  AwsSnsVerifierOptions,
  CertificateVerifierOptions,
  PayPalVerifierOptions,
} from './verifiers/certificate-senders.ts';
export type { HttpSignatureAlgorithm, HttpSignatureVerifierOptions } from './verifiers/http-signatures.ts';
export type { PlaidVerifierOptions } from './verifiers/plaid.ts';
export type { KeyFetch, KeyResponse } from './verifiers/remote-keys.ts';
export type { Secret, SecretOption } from './verifiers/secrets.ts';
export type { JwksOptions, StandardWebhooksVerifierOptions } from './verifiers/standard-webhooks.ts';
export type { HubSpotVerifierOptions, TwilioVerifierOptions } from './verifiers/url-verifiers.ts';
export type { UrlOptions } from './verifiers/urls.ts';
export type {
  PublicKeyVerifierOptions,
  TimedVerifierOptions,
  ToleranceOptions,
  VerifierOptions,
} from './verifiers/verifier-options.ts';
export type { Verifier } from './verifiers/verifier.ts';
export { type Verifiers, verifiers } from './verifiers/verifiers.ts';
export { Unrecoverable } from './work/retries.ts';

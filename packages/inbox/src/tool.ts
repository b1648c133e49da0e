export { runTool, type ToolOutput } from './tool/run-tool.ts';
export {
  UsageError,
  type ToolAccess,
  type ToolArguments,
  type ToolCommand,
  type ToolOptions,
  type ToolOwner,
  type ToolParser,
  type ToolStore,
  type ToolTarget,
} from './tool/target.ts';
export type { Json } from './delivery/json.ts';
export type { RequestFacts } from './delivery/request-facts.ts';
export type { Awaitable, DeliveryRef, StoredDelivery } from './delivery/stored-delivery.ts';
export type { StoreStats } from './store/inbox-store.ts';
export type { ReceivingStats } from './store/receiving-store.ts';
export { storedBytes } from './delivery/stored-bytes.ts';
export { HMAC_SENDERS, TOKEN_SENDERS } from './verifiers/hmac-senders.ts';
export { type HmacScheme, messageOf, schemesOf, signaturesOf } from './verifiers/hmac-verifier.ts';
export { KEY_PAIR_SENDERS } from './verifiers/key-pair-senders.ts';

import { BackpressureError, checkFunction, invalid, isRecord } from '@webhook-backpressure/base';
import { isInboxStore } from '../store/as-inbox-store.ts';
import { isUnshared } from '../store/memory/memory-store.ts';
import type { ReceivingStore } from '../store/receiving-store.ts';
import type { InboxOptions } from './inbox-options.ts';

const RECEIVING_CALLS: readonly (keyof ReceivingStore)[] = ['open', 'put', 'stats', 'close'];

/** What an inbox does: it receives deliveries, handles them, or both. */
export type InboxRole = 'both' | 'receiver' | 'worker';

/** The options of deliveries that arrive: a worker has none of them. */
export type ReceivingOption =
  | (
      | 'verify'
      | 'context'
      | 'redact'
      | 'id'
      | 'keyGenerator'
      | 'handshake'
      | 'allowedOrigins'
      | 'notBefore'
      | 'senders'
      | 'dryRun'
      | 'pressure'
    )
  | ('successStatus' | 'maxBodyBytes' | 'maxWaitMs' | 'overflow' | 'statusCode' | 'retryAfter' | 'shed');

/** The options of deliveries that are handled: a receiver without workers has none of them. */
export type WorkingOption =
  | (
      | 'process'
      | 'on'
      | 'processBatch'
      | 'batch'
      | 'coalesce'
      | 'onDead'
      | 'ttlMs'
      | 'ordered'
      | 'concurrency'
      | 'maxStartsPerSecond'
      | 'maxConcurrencyPerKey'
      | 'maxHandlingMs'
      | 'limits'
      | 'buckets'
    )
  | ('retry' | 'retentionMs' | 'maxRemembered' | 'maxDeadLetterAgeMs' | 'keepCompletedMs' | 'maxKeptBytes');

/** The options that a receiver reads. */
export type ReceivingOptions = Pick<InboxOptions<never>, ReceivingOption>;

/**
 * The options of a receiver without workers: it verifies, stores and acknowledges deliveries, and other processes handle
 * them. The options are those of {@link InboxOptions} without the ones of the handling. `R` is the request type of the
 * framework.
 */
export interface ReceiverOptions<R = unknown>
  extends Omit<InboxOptions<R>, WorkingOption | 'store'>, Partial<Record<WorkingOption, undefined>> {
  /**
   * Stores the deliveries. The inbox opens and closes it; no other inbox may use the same object. Workers use another
   * store object with the same deliveries, in any process.
   */
  store: ReceivingStore;
}

/**
 * The options of workers without a receiver: they handle what receivers in other processes store. The options are those
 * of {@link InboxOptions} without the ones of the receiving. `capacity`, `maxBytes` and the water marks limit redrives
 * and replays only; give them the values of the receivers.
 */
export interface WorkerOptions
  extends Omit<InboxOptions<never>, ReceivingOption>, Partial<Record<ReceivingOption, undefined>> {}

const RECEIVING: Record<ReceivingOption, true> = {
  verify: true,
  context: true,
  redact: true,
  id: true,
  keyGenerator: true,
  handshake: true,
  allowedOrigins: true,
  notBefore: true,
  senders: true,
  dryRun: true,
  pressure: true,
  successStatus: true,
  maxBodyBytes: true,
  maxWaitMs: true,
  overflow: true,
  statusCode: true,
  retryAfter: true,
  shed: true,
};
const WORKING: Record<WorkingOption, true> = {
  process: true,
  on: true,
  processBatch: true,
  batch: true,
  coalesce: true,
  onDead: true,
  ttlMs: true,
  ordered: true,
  concurrency: true,
  maxStartsPerSecond: true,
  maxConcurrencyPerKey: true,
  maxHandlingMs: true,
  limits: true,
  buckets: true,
  retry: true,
  retentionMs: true,
  maxRemembered: true,
  maxDeadLetterAgeMs: true,
  keepCompletedMs: true,
  maxKeptBytes: true,
};

/**
 * Checks that no option belongs to the other role.
 *
 * @throws BackpressureError `ERR_WBP_ROLE`
 */
export function checkRole(options: object, role: InboxRole): void {
  if (role === 'both') return;
  const others: object = role === 'receiver' ? WORKING : RECEIVING;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !Object.hasOwn(others, name)) continue;
    throw new BackpressureError(
      'ERR_WBP_ROLE',
      role === 'receiver'
        ? `${name} belongs to the workers: pass it to createWorker(), or add process to this inbox.`
        : `${name} belongs to the receivers: pass it to webhookInbox(). createWorker() receives nothing.`,
    );
  }
}

/** The options that decide the role, of any type. */
type Handling = Readonly<Partial<Record<'store' | 'process' | 'processBatch' | 'on', unknown>>>;

/**
 * Checks that there is a store, and workers exactly where the role has them.
 *
 * @throws BackpressureError `ERR_WBP_STORE`, `ERR_WBP_ROLE` or `ERR_WBP_PROCESS`
 */
export function checkStoreAndProcess(options: Handling, role: InboxRole): void {
  const { store, process, processBatch, on } = options;
  if (!isStore(store))
    throw invalid('ERR_WBP_STORE', 'store', 'a store, such as memoryStore() or sqliteStore({ path })', store);
  if (role === 'receiver') {
    if (!isUnshared(store)) return;
  } else if (!isInboxStore(store)) {
    throw new BackpressureError(
      'ERR_WBP_ROLE',
      'The store only receives deliveries: workers cannot claim any from it. Remove process and the options of workers, or use another store.',
    );
  }
  if (processBatch !== undefined) {
    checkFunction('ERR_WBP_PROCESS', 'processBatch', processBatch);
    if (process === undefined && on === undefined) return;
    throw new BackpressureError('ERR_WBP_PROCESS', 'processBatch cannot be combined with process or on.');
  }
  if (process === undefined && on !== undefined) return;
  if (typeof process !== 'function') throw invalid('ERR_WBP_PROCESS', 'process', 'a function', process);
}

function isStore(store: unknown): store is ReceivingStore {
  return isRecord(store) && RECEIVING_CALLS.every((call) => typeof store[call] === 'function');
}

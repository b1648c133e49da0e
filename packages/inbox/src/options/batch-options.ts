import { checkNames, checkNumber, invalid, isRecord } from '@webhook-backpressure/base';
import type { Signal } from '@webhook-backpressure/base';
import type { InboxDelivery } from '../delivery/inbox-delivery.ts';

/** How deliveries are collected for `processBatch`. */
export interface BatchOptions {
  /** The most deliveries of a batch. Integer from 1 to 500, default 100. */
  maxDeliveries?: number | undefined;
  /**
   * The most bytes of a batch: bodies, headers and about 256 bytes for each delivery. A larger delivery is a batch alone.
   * Integer ≥ 1, default 1,000,000.
   */
  maxBytes?: number | undefined;
  /**
   * How long a batch that is not full waits for more deliveries of its key, with a worker, in milliseconds from 0 to 60,000.
   * Default 0: it takes those that are stored.
   */
  maxWaitMs?: number | undefined;
}

/** The second argument of `processBatch`. */
export interface BatchContext {
  /** The attempt of each delivery, 1 for the first. */
  readonly attempts: readonly number[];
  /** Aborted when the handler takes longer than `maxHandlingMs`, and when the inbox closes before it has ended. */
  readonly signal: Signal;
}

/** Processes deliveries of one key. See the option `processBatch`. */
export type BatchHandler = (deliveries: readonly InboxDelivery[], context: BatchContext) => unknown;

/** The checked option `batch`. */
export type BatchSettings = { readonly [K in keyof BatchOptions]-?: number };

const DEFAULTS: BatchSettings = { maxDeliveries: 100, maxBytes: 1_000_000, maxWaitMs: 0 };
const MAX_DELIVERIES = 500;

/** @throws BackpressureError `ERR_WBP_BATCH` */
export function batchSettings(given: unknown = {}): BatchSettings {
  if (!isRecord(given)) throw invalid('ERR_WBP_BATCH', 'batch', 'an object', given);
  checkNames(given, 'batch', Object.keys(DEFAULTS), 'ERR_WBP_BATCH');
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  const batch = { ...DEFAULTS, ...Object.fromEntries(fields) };
  checkWhole('batch.maxDeliveries', batch.maxDeliveries, MAX_DELIVERIES);
  checkWhole('batch.maxBytes', batch.maxBytes, Number.MAX_SAFE_INTEGER);
  checkNumber('ERR_WBP_BATCH', 'batch.maxWaitMs', batch.maxWaitMs, 0, 60_000, 'milliseconds');
  return batch;
}

function checkWhole(name: string, value: unknown, most: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most) return;
  const rule = most === MAX_DELIVERIES ? 'an integer from 1 to 500' : 'an integer of at least 1';
  throw invalid('ERR_WBP_BATCH', name, rule, value);
}

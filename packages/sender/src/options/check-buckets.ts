import { invalid, isRecord } from '@webhook-backpressure/base';

const CALLS = ['take', 'giveBack', 'pause', 'peek', 'forget'];

/** @throws BackpressureError `ERR_WBP_BUCKETS` */
export function checkBuckets(buckets: unknown): void {
  if (hasCalls(buckets, CALLS)) return;
  throw invalid('ERR_WBP_BUCKETS', 'buckets', 'what redisBuckets() returns', buckets);
}

export function hasCalls(value: unknown, calls: readonly string[]): boolean {
  return isRecord(value) && calls.every((call) => typeof value[call] === 'function');
}

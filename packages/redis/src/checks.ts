import { invalid } from '@webhook-backpressure/base';
import { isClient } from './client.ts';

const LONGEST_PREFIX = 200;

/** @throws BackpressureError `ERR_WBP_REDIS` */
export function checkClient(client: unknown): void {
  if (isClient(client)) return;
  throw invalid('ERR_WBP_REDIS', 'The first argument', 'a connected client of ioredis or redis', client);
}

/** @throws BackpressureError `ERR_WBP_REDIS` */
export function checkPrefix(prefix: unknown): void {
  if (typeof prefix === 'string' && prefix !== '' && prefix.length <= LONGEST_PREFIX) return;
  throw invalid('ERR_WBP_REDIS', 'prefix', 'a string of 1 to 200 characters', prefix);
}

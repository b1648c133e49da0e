import type { BackpressureInfo } from '@webhook-backpressure/core';
import { requestOf, type RequestSource } from './request-of.ts';

const infos = new WeakMap<Request, BackpressureInfo>();

/**
 * The delivery's key, sender, id, wait, signal and `waitUntil`. Undefined for a request that `withBackpressure` skipped.
 *
 * @param source - the first argument of the handler.
 */
export function backpressureOf(source: RequestSource): BackpressureInfo | undefined {
  return infos.get(requestOf(source));
}

/** Notes the info for {@link backpressureOf}. */
export function noteBackpressure(request: Request, info: BackpressureInfo): void {
  infos.set(request, info);
}

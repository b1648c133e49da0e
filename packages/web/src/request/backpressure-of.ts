import type { BackpressureInfo } from '@webhook-backpressure/core';
import { enclosingDelivery } from './enclosing-delivery.ts';
import { requestOf, type RequestSource } from './request-of.ts';
import { shared } from '../platform/shared.ts';

const infos = shared('infos', () => new WeakMap<Request, BackpressureInfo>());

/**
 * The delivery's key, sender, id, wait, signal and `waitUntil`. Undefined for a request that `withBackpressure` skipped.
 * Also finds the delivery when a framework has replaced the request object, where the runtime has `AsyncLocalStorage`.
 *
 * @param source - the first argument of the handler.
 */
export function backpressureOf(source: RequestSource): BackpressureInfo | undefined {
  return infos.get(requestOf(source)) ?? enclosingDelivery();
}

/** Notes the info for {@link backpressureOf}. */
export function noteBackpressure(request: Request, info: BackpressureInfo): void {
  infos.set(request, info);
}

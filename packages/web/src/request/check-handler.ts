import { BackpressureError } from '@webhook-backpressure/base';

/** @throws BackpressureError `ERR_WBP_CALLBACK` for anything but a function. */
export function checkHandler(handler: unknown): void {
  if (typeof handler === 'function') return;
  throw new BackpressureError(
    'ERR_WBP_CALLBACK',
    `The first argument of withBackpressure() must be a request handler (a function), but was ${typeof handler}.`,
  );
}

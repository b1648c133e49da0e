import { BackpressureError } from '@webhook-backpressure/base';

export function storeError(cause?: unknown): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_SENDER_STORE',
    'The store did not confirm the event. Whether it is stored is unknown; send it again with the same id.',
    { cause },
  );
}

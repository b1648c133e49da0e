import { BackpressureError } from '@webhook-backpressure/base';
import type { Put } from '@webhook-backpressure/inbox';
import { sendable } from './bodies.ts';

/** A batch to be sent to the thread. */
interface Prepared {
  readonly sent: readonly Put[];
  readonly transfer: readonly ArrayBuffer[];
  /** Call it when the batch has been sent. */
  readonly onSent: () => void;
  /** Call it when the call has failed, with the bodies that the thread returned. */
  readonly onFailed: (returned: readonly Uint8Array[]) => void;
}

/**
 * The bodies that were transferred to a thread. Transferred memory is empty for the caller. If the put fails, the thread
 * returns the body in other memory, which is used when the caller puts the same delivery again.
 */
export class TransferredBodies {
  /** Keyed by the bytes that the caller holds. */
  readonly #returned = new WeakMap<Uint8Array, Uint8Array>();
  readonly #transferred = new WeakSet<Uint8Array>();

  prepare(batch: readonly Put[]): Prepared {
    const transfer: ArrayBuffer[] = [];
    const given: (Uint8Array | undefined)[] = [];
    const sent = batch.map((put): Put => {
      const { delivery, isOverflow, isBodyGiven = false } = put;
      const own = delivery.rawBody;
      if (this.#transferred.has(own)) throw bodyLost();
      const body = this.#returned.get(own) ?? own;
      const rawBody = sendable(body, isBodyGiven, transfer);
      given.push(rawBody === body && transfer.at(-1) === body.buffer ? own : undefined);
      return { delivery: { ...delivery, rawBody }, isOverflow };
    });
    return {
      sent,
      transfer,
      onSent: () => {
        for (const own of given) {
          if (own === undefined) continue;
          this.#transferred.add(own);
          this.#returned.delete(own);
        }
      },
      onFailed: (returned) => {
        for (const [at, own] of given.entries()) {
          const body = returned[at];
          if (own === undefined || body === undefined) continue;
          this.#transferred.delete(own);
          this.#returned.set(own, body);
        }
      },
    };
  }
}

/** Thrown instead of storing an empty body. */
function bodyLost(): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_STORE_VALUE',
    'The body of this delivery was transferred by an earlier put and is lost.',
  );
}

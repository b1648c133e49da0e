import { BackpressureError, type Put } from '@webhook-backpressure/core';
import { sendable } from './bodies.ts';

/** A batch on its way to the thread. */
interface Packed {
  readonly sent: readonly Put[];
  readonly transfer: readonly ArrayBuffer[];
  /** Once it has been sent. */
  readonly leave: () => void;
  /** Once the call has ended: with the bodies that came back, if it has failed. */
  readonly unload: (back: readonly Uint8Array[] | undefined) => void;
}

/**
 * The bodies that have been handed over to a thread. Memory that was handed over is empty for whoever held it; when its
 * put has failed it comes back in another place, and is found here when the same put is made again.
 */
export class Luggage {
  /** By what the caller holds. */
  readonly #back = new WeakMap<Uint8Array, Uint8Array>();
  readonly #away = new WeakSet<Uint8Array>();

  pack(batch: readonly Put[]): Packed {
    const transfer: ArrayBuffer[] = [];
    const given: (Uint8Array | undefined)[] = [];
    const sent = batch.map((put): Put => {
      const { delivery, isOverflow, isBodyGiven = false } = put;
      const own = delivery.rawBody;
      if (this.#away.has(own)) throw gone();
      const body = this.#back.get(own) ?? own;
      const rawBody = sendable(body, isBodyGiven, transfer);
      given.push(rawBody === body && transfer.at(-1) === body.buffer ? own : undefined);
      return { delivery: { ...delivery, rawBody }, isOverflow };
    });
    return {
      sent,
      transfer,
      leave: () => {
        for (const own of given) {
          if (own === undefined) continue;
          this.#away.add(own);
          this.#back.delete(own);
        }
      },
      unload: (back) => {
        if (back === undefined) return;
        for (const [at, own] of given.entries()) {
          const body = back[at];
          if (own === undefined || body === undefined) continue;
          this.#away.delete(own);
          this.#back.set(own, body);
        }
      },
    };
  }
}

/** Never an empty body instead. */
function gone(): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_STORE_VALUE',
    'The body of this delivery was handed over with an earlier put, and is not there any more.',
  );
}

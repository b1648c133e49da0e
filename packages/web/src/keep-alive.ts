import type { Inbox } from '@webhook-backpressure/core';

/** Keeps the request of a platform alive until a promise settles, also after its response. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Keeps a request alive on platforms that otherwise end it with its response. */
export interface KeepAlive {
  /** Awaits a promise that another request settles. */
  wait<T>(turn: Promise<T>): Promise<T>;
  /** Lets the platform end the request. */
  end(): void;
}

const PULSE_MS = 1000;

/** Whether the code runs on Cloudflare Workers. */
export function isOnWorkers(): boolean {
  return typeof navigator === 'object' && navigator.userAgent === 'Cloudflare-Workers';
}

/** Keeps the request alive until `end` is called. Undefined where a request needs no such care. */
export function keepAlive(waitUntil: WaitUntil | undefined): KeepAlive | undefined {
  const onWorkers = isOnWorkers();
  if (waitUntil === undefined && !onWorkers) return undefined;
  let end = (): void => undefined;
  // Otherwise nothing runs after the sender has disconnected, not even the release of the permit. Without `waitUntil` the
  // permit is revoked after maxHandlingMs.
  const lifetime = new Promise<void>((resolve) => {
    end = resolve;
  });
  try {
    waitUntil?.(lifetime);
  } catch {
    // For example when the platform has no request at the moment. The delivery is handled all the same.
  }
  return {
    end: () => {
      end();
    },
    async wait(turn) {
      if (!onWorkers) return turn;
      // A request that only awaits another request, without its own timer, counts as hung and is canceled.
      const pulse = setInterval(() => undefined, PULSE_MS);
      const result = await turn;
      clearInterval(pulse);
      return result;
    },
  };
}

/**
 * Keeps a request alive until the inbox has processed its deliveries, for as long as the platform permits: no code runs
 * there outside a request.
 */
export function keepAliveForInbox(waitUntil: WaitUntil | undefined, inbox: Inbox): void {
  const alive = keepAlive(waitUntil);
  if (alive === undefined) return;
  const pulse = setInterval(() => {
    const { depth, state } = inbox.snapshot();
    // Deliveries left when it closes are processed after the next start.
    if (depth > 0 && state !== 'closed') return;
    clearInterval(pulse);
    alive.end();
  }, PULSE_MS);
}

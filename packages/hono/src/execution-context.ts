import type { Inbox } from '@webhook-backpressure/core';
import type { Context } from 'hono';

/** Keeps a request alive on Cloudflare Workers, which otherwise end it with its response. */
export interface KeepAlive {
  /** Awaits a promise that another request settles. */
  wait<T>(turn: Promise<T>): Promise<T>;
  /** Lets the runtime end the request. */
  end(): void;
}

const PULSE_MS = 1000;

/** Keeps the request alive until `end` is called. Undefined on other runtimes. */
export function keepAliveOnWorkers(c: Context): KeepAlive | undefined {
  if (typeof navigator !== 'object' || navigator.userAgent !== 'Cloudflare-Workers') return undefined;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  try {
    // Otherwise nothing runs after the sender has disconnected, not even the release of the permit.
    c.executionCtx.waitUntil(ended);
  } catch {
    // The app was called without an execution context. The permit is revoked after maxHandlingMs.
  }
  return {
    end,
    async wait(turn) {
      // A request that only awaits another request, without its own timer, counts as hung and is canceled.
      const pulse = setInterval(() => undefined, PULSE_MS);
      const result = await turn;
      clearInterval(pulse);
      return result;
    },
  };
}

/**
 * Keeps a request alive on Workers until the inbox has processed its deliveries, for as long as the runtime permits: no
 * code runs there outside a request.
 */
export function keepAliveForInbox(c: Context, inbox: Inbox): void {
  const keepAlive = keepAliveOnWorkers(c);
  if (keepAlive === undefined) return;
  const pulse = setInterval(() => {
    const { depth, state } = inbox.snapshot();
    // Deliveries left when it closes are processed after the next start.
    if (depth > 0 && state !== 'closed') return;
    clearInterval(pulse);
    keepAlive.end();
  }, PULSE_MS);
}

import type { Inbox } from '@webhook-backpressure/core';
import type { Context } from 'hono';

/** What a request does on Cloudflare's Workers so that it is not ended before its time. */
export interface Stay {
  /** Waits for what another request settles. */
  wait<T>(turn: Promise<T>): Promise<T>;
  end(): void;
}

const PULSE_MS = 1000;

/** Begins to stay, on Workers; undefined anywhere else. */
export function stayOnWorkers(c: Context): Stay | undefined {
  if (typeof navigator !== 'object' || navigator.userAgent !== 'Cloudflare-Workers') return undefined;
  let end = (): void => undefined;
  const stay = new Promise<void>((resolve) => {
    end = resolve;
  });
  try {
    // Without it nothing runs any more once the sender has gone, not even what gives the permit back.
    c.executionCtx.waitUntil(stay);
  } catch {
    // The app was called without a context. The permit is taken back after maxHandlingMs.
  }
  return {
    end,
    async wait(turn) {
      // A request that only another one can wake is taken for hung, and ended.
      const pulse = setInterval(() => undefined, PULSE_MS);
      const result = await turn;
      clearInterval(pulse);
      return result;
    },
  };
}

/**
 * Keeps a request on Workers until an inbox has nothing left to do, as far as the runtime lets it: nothing runs there
 * that belongs to no request.
 */
export function stayForInbox(c: Context, inbox: Inbox): void {
  const stay = stayOnWorkers(c);
  if (stay === undefined) return;
  const pulse = setInterval(() => {
    const { depth, state } = inbox.snapshot();
    // What is left when it closes is the next start's.
    if (depth > 0 && state !== 'closed') return;
    clearInterval(pulse);
    stay.end();
  }, PULSE_MS);
}

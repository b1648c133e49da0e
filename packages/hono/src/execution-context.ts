import { isOnWorkers, type WaitUntil } from '@webhook-backpressure/web/parts';
import type { Context } from 'hono';

/** The `waitUntil` of Workers, if the app was called with an execution context. */
export function waitUntilOf(c: Context): WaitUntil | undefined {
  if (!isOnWorkers()) return undefined;
  try {
    const { executionCtx } = c;
    return (promise) => {
      executionCtx.waitUntil(promise);
    };
  } catch {
    return undefined;
  }
}

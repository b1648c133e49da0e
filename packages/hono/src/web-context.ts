import type { Handling } from '@webhook-backpressure/core/middleware';
import { followResponse, isOnWorkers, withHeaders, type WaitUntil } from '@webhook-backpressure/web/parts';
import type { Context, MiddlewareHandler } from 'hono';

const originalRequests = new WeakMap<Context, Request>();

/** The original request of a context. A middleware, such as Hono's `bodyLimit`, may replace it. */
export function webRequest(c: Context): Request {
  const request = originalRequests.get(c) ?? c.req.raw;
  originalRequests.set(c, request);
  return request;
}

/** Whether a handler is mounted for all paths and methods. A function that calls the handler has chosen the requests. */
export function isForWholeApp(c: Context, mounted: MiddlewareHandler): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- what replaces it needs Hono 4.8
  return c.req.matchedRoutes.some(
    ({ handler, method, path }) => handler === mounted && method === 'ALL' && path === '/*',
  );
}

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

/** Holds the permit until the body of the response has ended. Called when the handlers have returned. */
export async function holdForBody(c: Context, handling: Handling): Promise<void> {
  const response = c.res;
  const followed = await followResponse(response, c.req.raw.method, handling);
  if (followed !== response) replaceResponse(c, followed);
}

/** Adds headers to the final response, which may not be the one that Hono's context created. */
export function addHeaders(c: Context, fields: Record<string, string> | undefined): void {
  if (fields === undefined || !c.finalized) return;
  const changed = withHeaders(c.res, fields);
  if (changed !== c.res) replaceResponse(c, changed);
}

/** Unset first: Hono would copy the old headers to the new response, which has them, and fail on immutable ones. */
function replaceResponse(c: Context, response: Response): void {
  c.res = undefined;
  c.res = response;
}

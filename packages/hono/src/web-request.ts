import type { Context } from 'hono';

const originalRequests = new WeakMap<Context, Request>();

/** The original request of a context. A middleware, such as Hono's `bodyLimit`, may replace it. */
export function webRequest(c: Context): Request {
  const request = originalRequests.get(c) ?? c.req.raw;
  originalRequests.set(c, request);
  return request;
}

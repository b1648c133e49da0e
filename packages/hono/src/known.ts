import type { BackpressureInfo } from '@webhook-backpressure/core';
import type { Context } from 'hono';
import { nodeRequest } from './node-life.ts';

/** Where there is no request of node's: an app that hands its request to another app shares nothing else with it. */
const known = new WeakMap<Request, BackpressureInfo>();

/** What has been found out about the request before. */
export function knownInfo(c: Context): BackpressureInfo | undefined {
  const request = nodeRequest(c.env);
  const info = request === undefined ? known.get(c.req.raw) : request.backpressure;
  // A middleware in between may have put another request in the place of this one; the context has stayed.
  return info ?? c.get('backpressure');
}

/** Puts it where the handlers look for it, and where {@link knownInfo} does. */
export function keepInfo(c: Context, info: BackpressureInfo): void {
  const request = nodeRequest(c.env);
  if (request === undefined) known.set(c.req.raw, info);
  else request.backpressure = info;
  c.set('backpressure', info);
}

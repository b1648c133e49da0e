import { Handling } from '@webhook-backpressure/core/middleware';
import type { Application, RequestHandler } from 'express';
import { type Layer, layersOf } from './router-stack.ts';

/**
 * Holds permits until the promises of handlers settle. Express does not expose them, so each handler is wrapped that an app
 * and its routers have now. Otherwise a handler whose delivery a timeout has answered would run beyond the limit.
 */
export function followHandlers(app: Application | undefined): void {
  // A router works without an app too.
  if (app === undefined || followedApps.has(app)) return;
  followedApps.add(app);
  followAll(new Set(), layersOf(app));
}

const followedApps = new WeakSet<Application>();

function followAll(seen: Set<readonly Layer[]>, stack: readonly Layer[] = []): void {
  // A router may be mounted in itself, for paths of any depth.
  if (seen.has(stack)) return;
  seen.add(stack);
  for (const layer of stack) {
    if (layer.route !== undefined) followAll(seen, layer.route.stack);
    else if (layer.handle.stack !== undefined) followAll(seen, layer.handle.stack);
    // Express tells handlers of errors by their four parameters.
    else if (layer.handle.length < 4) layer.handle = following(layer.handle);
  }
}

const wrapped = new WeakSet<RequestHandler>();
let calls = 0;

function following(handle: RequestHandler): RequestHandler {
  if (wrapped.has(handle)) return handle;
  const followed: RequestHandler = function (this: unknown, req, res, next) {
    calls += 1;
    const call = calls;
    const returned: unknown = handle.call(this, req, res, next);
    const promise = returned instanceof Promise ? (returned as Promise<unknown>) : undefined;
    // Whether it has not called the next one: an async middleware before a handler does not tell when that ends.
    const isLast = call === calls;
    if (promise === undefined && !isLast) return returned;
    const handling = req.backpressure;
    if (!(handling instanceof Handling)) return returned;
    if (isLast) handling.isHeld = promise !== undefined;
    return promise === undefined ? returned : handling.hold(promise);
  };
  // Lists of routes show names, and some programs keep data in properties of handlers.
  Object.defineProperties(followed, Object.getOwnPropertyDescriptors(handle));
  wrapped.add(followed);
  return followed;
}

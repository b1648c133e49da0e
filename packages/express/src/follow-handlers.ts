import { Handling } from '@webhook-backpressure/core/middleware';
import type { Application, Request, RequestHandler } from 'express';

/** What Express 4 and 5 have in common inside. */
interface Stack {
  readonly stack?: readonly Layer[];
}

interface Layer {
  handle: RequestHandler & Stack;
  readonly route?: Stack;
}

/**
 * Holds permits until the promises of handlers settle. Express shows them to nobody, so each handler is wrapped that an app
 * and its routers have now. Otherwise a handler whose delivery a timeout has answered would run beyond the limit.
 */
export function followHandlers(app: Application | undefined): void {
  // A router works without an app too.
  if (app === undefined || followedApps.has(app)) return;
  followedApps.add(app);
  // In Express 4, `router` throws.
  const router = (app._router ?? app.router) as Stack | undefined;
  followAll(new Set(), router?.stack);
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

function following(handle: RequestHandler): RequestHandler {
  if (wrapped.has(handle)) return handle;
  const followed: RequestHandler = function (this: unknown, req, res, next) {
    const returned: unknown = handle.call(this, req, res, next);
    return returned instanceof Promise ? hold(req, returned) : returned;
  };
  // Lists of routes show names, and some programs keep data in properties of handlers.
  Object.defineProperties(followed, Object.getOwnPropertyDescriptors(handle));
  wrapped.add(followed);
  return followed;
}

function hold(req: Request, returned: Promise<unknown>): unknown {
  const handling = req.backpressure;
  return handling instanceof Handling ? handling.hold(returned) : returned;
}

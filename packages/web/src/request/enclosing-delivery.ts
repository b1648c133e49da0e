import type { Handling } from '@webhook-backpressure/core/middleware';
import type { BackpressureInfo, Intake } from '@webhook-backpressure/core';
import { shared } from '../platform/keep-alive.ts';
import { requestOf, type RequestSource } from './request-of.ts';

/** A delivery that is being handled in the current async context. */
interface Enclosing {
  readonly intake: Intake;
  readonly handling: Handling;
  readonly outer: Enclosing | undefined;
}

/** The part of `AsyncLocalStorage` that this package uses. */
interface Storage {
  getStore(): Enclosing | undefined;
  run<R>(store: Enclosing, action: () => R): R;
}

/**
 * The runtime is asked for the module, so that this package imports none. Undefined where there is none, such as on
 * Workers without Node's modules.
 */
const storage = shared('enclosing-delivery', (): Storage | undefined => {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as
    { AsyncLocalStorage: new () => Storage } | undefined;
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage();
});

/** Calls a handler so that it finds its delivery with {@link enclosingDelivery}. */
export function handleInside<R>(intake: Intake, handling: Handling, action: () => R): R {
  return storage === undefined
    ? action()
    : storage.run({ intake, handling, outer: stillHeld(storage.getStore()) }, action);
}

/** Without the deliveries whose permit is released: in a loop of calls from one handler to the next they would add up. */
function stillHeld(enclosing: Enclosing | undefined): Enclosing | undefined {
  let held = enclosing;
  while (held?.handling.isOver === true) held = held.outer;
  return held;
}

/**
 * The delivery of this intake whose handler makes the current call. A second permit for it would wait for the first one,
 * for example when an adapter passes another request object to an inner handler. Undefined once its permit is released.
 *
 * @param intake - undefined for the innermost delivery of any intake.
 */
export function enclosingDelivery(intake?: Intake): Handling | undefined {
  let enclosing = storage?.getStore();
  while (enclosing !== undefined && intake !== undefined && enclosing.intake !== intake)
    enclosing = enclosing.outer;
  return enclosing?.handling.isOver === false ? enclosing.handling : undefined;
}

/** On the request: an entry in a WeakMap costs each request more, and the collector visits it. */
const INFO = Symbol.for('webhook-backpressure.web.info');

interface Noted {
  [INFO]?: BackpressureInfo;
}

/**
 * The delivery's key, sender, id, wait, signal and `waitUntil`. Undefined for a request that `withBackpressure` skipped.
 * Also finds the delivery when a framework has replaced the request object, where the runtime has `AsyncLocalStorage`.
 *
 * @param source - the first argument of the handler.
 */
export function backpressureOf(source: RequestSource): BackpressureInfo | undefined {
  return (requestOf(source) as Noted)[INFO] ?? enclosingDelivery();
}

/** Notes the info for {@link backpressureOf}. */
export function noteBackpressure(request: Request, info: BackpressureInfo): void {
  (request as Noted)[INFO] = info;
}

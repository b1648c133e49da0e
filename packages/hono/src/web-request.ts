import type { AdmissionControl, Handling, Refusal } from '@webhook-backpressure/core';
import type { Context } from 'hono';
import { keepAliveOnWorkers } from './execution-context.ts';

const originalRequests = new WeakMap<Context, Request>();

/** The original request of a context. A middleware, such as Hono's `bodyLimit`, may replace it. */
export function webRequest(c: Context): Request {
  const request = originalRequests.get(c) ?? c.req.raw;
  originalRequests.set(c, request);
  return request;
}

/**
 * Admits a request outside of node-server. Its signal reports when the sender disconnects; how much of its body has
 * arrived is unknown.
 *
 * @returns a delivery that may start, a refusal, or null when the sender has disconnected.
 */
export async function admitWebRequest(
  control: AdmissionControl<Context>,
  c: Context,
): Promise<Handling | Refusal | null> {
  // Some runtimes lack the signal.
  const signal = c.req.raw.signal as AbortSignal | undefined;
  const isGone = (): boolean => signal?.aborted === true;
  if (isGone()) return null;
  const handling = control.admit(control.read(c));
  if (!handling.admitted) return handling;

  const cutOff = (): void => {
    handling.cutOff();
  };
  signal?.addEventListener('abort', cutOff, { once: true });
  const keepAlive = keepAliveOnWorkers(c);
  handling.whenOver(() => {
    signal?.removeEventListener('abort', cutOff);
    keepAlive?.end();
  });
  if (handling.tryStart()) return handling;
  const started = handling.start(isGone);
  const result = await (keepAlive?.wait(started) ?? started);
  if (result === true) return handling;
  return result === false ? null : result;
}

import type { AdmissionControl, Handling, Refusal } from '@webhook-backpressure/core';
import type { Context } from 'hono';
import { stayOnWorkers } from './execution-context.ts';

const cameWith = new WeakMap<Context, Request>();

/** The request that a context came with: a middleware, such as Hono's `bodyLimit`, may put another one in its place. */
export function webRequest(c: Context): Request {
  const request = cameWith.get(c) ?? c.req.raw;
  cameWith.set(c, request);
  return request;
}

/**
 * Takes a request through admission control by web standards: its signal tells when the sender goes. How much of its body has
 * arrived nobody can see here.
 *
 * @returns a delivery that may run, a refusal, or null: the sender has gone.
 */
export async function enterByWeb(
  control: AdmissionControl<Context>,
  c: Context,
): Promise<Handling | Refusal | null> {
  // Some runtimes have no signal on a request.
  const signal = c.req.raw.signal as AbortSignal | undefined;
  const isGone = (): boolean => signal?.aborted === true;
  if (isGone()) return null;
  const handling = control.admit(control.read(c));
  if (!handling.admitted) return handling;

  const cutOff = (): void => {
    handling.cutOff();
  };
  signal?.addEventListener('abort', cutOff, { once: true });
  const stay = stayOnWorkers(c);
  handling.whenOver(() => {
    signal?.removeEventListener('abort', cutOff);
    stay?.end();
  });
  if (handling.tryStart()) return handling;
  const started = handling.start(isGone);
  const result = await (stay?.wait(started) ?? started);
  if (result === true) return handling;
  return result === false ? null : result;
}

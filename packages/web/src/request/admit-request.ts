import type { AdmissionControl, Handling } from '@webhook-backpressure/core/middleware';
import type { Refusal } from '@webhook-backpressure/core';
import { keepAlive, type WaitUntil } from '../platform/keep-alive.ts';

/**
 * Admits a web-standard request. Its signal reports when the sender disconnects; how much of its body has arrived is
 * unknown.
 *
 * @param request - what the reader of the control reads.
 * @param signal - the signal of the web-standard request. Some runtimes lack it.
 * @returns a delivery that may start, a refusal, or null when the sender has disconnected.
 */
export async function admitRequest<R>(
  control: AdmissionControl<R>,
  request: R,
  signal: AbortSignal | undefined,
  waitUntil: WaitUntil | undefined,
): Promise<Handling | Refusal | null> {
  const isGone = (): boolean => signal?.aborted === true;
  if (isGone()) return null;
  const handling = control.admit(control.read(request));
  if (!handling.admitted) return handling;

  const cutOff = (): void => {
    handling.cutOff();
  };
  signal?.addEventListener('abort', cutOff, { once: true });
  const alive = keepAlive(waitUntil);
  handling.whenOver(() => {
    signal?.removeEventListener('abort', cutOff);
    alive?.end();
  });
  if (alive !== undefined)
    handling.whenRevoked(() => {
      alive.end();
    });
  if (handling.tryStart()) return handling;
  const started = handling.start(isGone);
  const result = await (alive?.wait(started) ?? started);
  if (result === true) return handling;
  return result === false ? null : result;
}

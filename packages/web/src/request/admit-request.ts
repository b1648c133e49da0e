import type { AdmissionControl, Handling } from '@webhook-backpressure/core/middleware';
import type { Refusal } from '@webhook-backpressure/core';
import { keepAlive, type KeepAlive, type WaitUntil } from '../platform/keep-alive.ts';

type Verdict = Handling | Refusal | null;

/**
 * Admits a web-standard request. Its signal reports when the sender disconnects; how much of its body has arrived is
 * unknown.
 *
 * @param request - what the reader of the control reads.
 * @param signal - the signal of the web-standard request. Some runtimes lack it, and some libraries have null.
 * @returns a delivery that may start, a refusal, or null when the sender has disconnected. A promise only if it is queued.
 */
export function admitRequest<R>(
  control: AdmissionControl<R>,
  request: R,
  signal: AbortSignal | null | undefined,
  waitUntil: WaitUntil | undefined,
): Verdict | Promise<Verdict> {
  if (signal?.aborted === true) return null;
  const handling = control.admit(control.read(request));
  if (!handling.admitted) return handling;

  handling.departsBy(signal);
  const alive = keepAlive(waitUntil);
  if (alive !== undefined) {
    const end = (): void => {
      alive.end();
    };
    handling.whenOver(end);
    handling.whenRevoked(end);
  }
  if (handling.tryStart()) return handling;
  return whenStarted(handling, signal, alive);
}

async function whenStarted(
  handling: Handling,
  signal: AbortSignal | null | undefined,
  alive: KeepAlive | undefined,
): Promise<Verdict> {
  const started = handling.start(() => signal?.aborted === true);
  const result = await (alive?.wait(started) ?? started);
  if (result === true) return handling;
  return result === false ? null : result;
}

/** The number of deliveries that are checked: on some servers the check creates the whole request. */
const CHECKED = 1000;

/** Creates a function that warns once of a delivery whose body was read before it was admitted. */
export function bodyCheck(control: AdmissionControl<Request>): (request: Request) => void {
  let checksLeft = CHECKED;
  return (request) => {
    if (checksLeft === 0) return;
    checksLeft -= 1;
    if (!request.bodyUsed) return;
    checksLeft = 0;
    control.warnOnce(
      'WBP_BODY_READ',
      'The body of a request was read before withBackpressure(), so queued deliveries hold their bodies in memory, and ' +
        'refused ones were read for nothing. Read the body in the handler.',
    );
  };
}

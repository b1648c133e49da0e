import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { infoOf, type BackpressureInfo, type Door, type Refusal } from '@webhook-backpressure/core';
import { Lease } from './lease.ts';
import { look } from './look.ts';

/** A request that may run, one that is refused, or, as null, one whose sender has gone or has been answered. */
export type Verdict = { readonly admitted: true; readonly info: BackpressureInfo } | Refusal | null;

/**
 * Takes a request through the door, and binds its permit to the life of the response: it is released when the
 * response has finished or its connection has closed, whatever the handler does. A sender that goes while its
 * delivery waits leaves the queue at once.
 *
 * @param request - what the framework calls the request.
 * @returns at once, unless the delivery has to wait.
 */
export function enter<R>(
  door: Door<R>,
  request: R,
  req: IncomingMessage,
  res: ServerResponse,
): Verdict | Promise<Verdict> {
  const socket = look(req, 'socket');
  if (isGone(socket, res)) return null;
  const delivery = door.read(request);
  const place = door.admit(delivery);
  if (!place.admitted) return place;

  const { permit } = place;
  const lease = new Lease(place, socket, res);
  if (!(permit instanceof Promise)) {
    lease.begin(permit);
    return { admitted: true, info: infoOf(delivery, permit.waitedMs) };
  }
  return permit.then((result): Verdict => {
    // A last look: between the start and this moment the sender may have gone.
    if (lease.hasEnded || isGone(socket, res)) {
      if (result.admitted) result.release('failure');
      return null;
    }
    if (!result.admitted) return result;
    lease.begin(result);
    return { admitted: true, info: infoOf(delivery, result.waitedMs) };
  });
}

function isGone(socket: Socket, res: ServerResponse): boolean {
  // `writableEnded` says the same, by a getter of a prototype: a long way from a response of Express.
  return socket.destroyed || look(res, 'finished');
}

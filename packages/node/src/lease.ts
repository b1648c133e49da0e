import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission, Permit } from '@webhook-backpressure/core';
import { look } from './look.ts';

/** On each connection, the leases whose responses stand in line behind another one. */
const inLine = new WeakMap<Socket, Set<Lease>>();

/**
 * Binds a place in the intake to the life of a response. When the response has finished, or its connection has
 * closed, the delivery leaves the queue or gives its permit back. One listener does for both.
 */
export class Lease {
  /** Whether the response is over. */
  hasEnded = false;
  #place: Admission | undefined;
  readonly #socket: Socket;
  readonly #res: ServerResponse;
  #permit: Permit | undefined;

  constructor(place: Admission, socket: Socket, res: ServerResponse) {
    this.#place = place;
    this.#socket = socket;
    this.#res = res;
    // It comes once, so nothing is won by `once`, which costs two more objects.
    res.on('close', () => {
      this.#end();
    });
    if (look(res, 'socket') === null) this.#joinLine();
  }

  /** From now on it holds the permit. */
  begin(permit: Permit): void {
    this.#permit = permit;
  }

  #end(): void {
    this.hasEnded = true;
    inLine.get(this.#socket)?.delete(this);
    if (this.#permit === undefined) this.#place?.leave();
    else this.#permit.release(isFailure(this.#res, this.#socket) ? 'failure' : 'success');
    // The response may be kept alive for longer, and with it this lease, but not what it was about.
    this.#place = this.#permit = undefined;
  }

  /**
   * Sees the connection close while another response stands before this one. Node gives a connection to its
   * responses in turn, and when it closes only the one in front is told: whoever sent ten requests at once and hung
   * up would keep the permits of nine.
   */
  #joinLine(): void {
    const leases = inLine.get(this.#socket);
    if (leases !== undefined) {
      leases.add(this);
      return;
    }
    const first = new Set<Lease>([this]);
    inLine.set(this.#socket, first);
    this.#socket.once('close', () => {
      for (const lease of first) lease.#end();
    });
  }
}

function isFailure(res: ServerResponse, socket: Socket): boolean {
  if (look(res, 'statusCode') >= 500) return true;
  // While the connection stands, only a response that has been sent whole closes. One that was ended and then
  // destroyed with an error has finished, but nobody has got it whole.
  return socket.destroyed && (!res.writableFinished || res.errored instanceof Error);
}

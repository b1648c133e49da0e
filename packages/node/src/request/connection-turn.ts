import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseSocketOf } from './read-property.ts';

/** More requests than this behind one answer are no client's, and each takes memory: the connection is cut. */
const MOST_IN_LINE = 256;

/** For each connection, what to do with the requests that wait for their turn on it when it closes. */
const inLine = new WeakMap<Socket, Set<(isOpen: boolean) => void>>();

/** Whether no other response has to go out before this one. */
export function isItsTurn(socket: Socket, res: ServerResponse): boolean {
  if (responseSocketOf(res) !== null) return true;
  // What node itself asks. A response that has no connection, of a host of functions, has nothing in front of it.
  return (socket as { _httpMessage?: unknown })._httpMessage == null;
}

/**
 * Waits until the response is the one that its connection sends. With pipelining a client sends request after request,
 * and the answers have to go out in that order: a request that took a worker before its turn would hold that worker for
 * as long as the client lets an earlier answer take.
 *
 * @returns false when the connection has closed before.
 */
export function itsTurn(socket: Socket, res: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const waiting = waitingOn(socket);
    waiting.add(resolve);
    if (waiting.size > MOST_IN_LINE) {
      socket.destroy();
      return;
    }
    // Node tells nobody that a response has got its turn but the response itself, by this call.
    const assign = res.assignSocket.bind(res);
    res.assignSocket = (given) => {
      res.assignSocket = assign;
      assign(given);
      waiting.delete(resolve);
      resolve(true);
    };
  });
}

function waitingOn(socket: Socket): Set<(isOpen: boolean) => void> {
  const known = inLine.get(socket);
  if (known !== undefined) return known;
  const waiting = new Set<(isOpen: boolean) => void>();
  inLine.set(socket, waiting);
  // When a connection closes, node tells only the response in front.
  socket.once('close', () => {
    for (const resolve of waiting) resolve(false);
    waiting.clear();
  });
  return waiting;
}

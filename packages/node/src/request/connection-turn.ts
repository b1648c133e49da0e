import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseSocketOf } from './read-property.ts';

/** No real client pipelines more requests than this behind one response, and each takes memory: the connection is closed. */
const MOST_IN_LINE = 256;

/** For each connection, the requests that wait for the responses before theirs. */
const inLine = new WeakMap<Socket, Set<(isOpen: boolean) => void>>();

/** Whether no other response has to be sent before this one. */
export function isItsTurn(socket: Socket, res: ServerResponse): boolean {
  if (responseSocketOf(res) !== null) return true;
  // Node checks the same. On a host of functions the response has no connection, and nothing before it.
  return (socket as { _httpMessage?: unknown })._httpMessage == null;
}

/**
 * Waits until the responses before this one have been sent. With pipelining a client sends request after request and
 * receives the responses in the same order. A request that took a worker earlier would hold it until the client has read
 * the responses before.
 *
 * @returns false if the connection closes first.
 */
export function itsTurn(socket: Socket, res: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const waiting = waitingOn(socket);
    waiting.add(resolve);
    if (waiting.size > MOST_IN_LINE) {
      socket.destroy();
      return;
    }
    // With this call node makes the response the one that the connection sends. There is no event for it.
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
  // When a connection closes, node emits `close` on the first response only.
  socket.once('close', () => {
    for (const resolve of waiting) resolve(false);
    waiting.clear();
  });
  return waiting;
}

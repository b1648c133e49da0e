import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Handling } from '@webhook-backpressure/core';
import { look } from './look.ts';
import type { SlowReaders } from './slow-readers.ts';

/**
 * Binds a delivery to the life of its response: when the response is over, or its connection has closed, the delivery
 * leaves the queue or has got its answer. A handler that returned no promise, as in Express, is taken to have ended when
 * it ends its response, also one whose connection has closed.
 */
export function bind(handling: Handling, socket: Socket, res: ServerResponse, readers: SlowReaders): void {
  const watched = readers.watch(res);
  // It comes once, so nothing is won by `once`, which costs two more objects.
  res.on('close', () => {
    readers.forget(watched);
    if (isCutOff(res, socket)) handling.cutOff();
    else handling.endResponse(look(res, 'statusCode') >= 500 ? 'failure' : 'success');
    // A promise is believed, but not for ever: that of Koa 3 does not settle where the source of a body fails.
    if (isClosedHere(socket)) handling.endHandler();
    else if (handling.isFollowed) return;
    else if (look(res, 'finished')) handling.endHandler();
    else endWith(handling, res);
  });
}

/** While its connection, or its stream of HTTP/2, stands, only a response that has been sent whole closes. */
function isCutOff(res: ServerResponse, socket: Socket): boolean {
  // With HTTP/2 this is the stream.
  if (!socket.destroyed) return false;
  const { stream } = res as unknown as Partial<Http2ServerResponse>;
  if (stream !== undefined) return stream.aborted || stream.rstCode !== 0;
  // One that was ended and then destroyed with an error has finished, but nobody has got it whole.
  return !res.writableFinished || res.errored instanceof Error;
}

/**
 * Whether this side has closed the connection, and not the sender: a handler that destroys its response, or a framework
 * that can do nothing else for an error in the middle of an answer, does not end the response as well.
 */
function isClosedHere(socket: Socket): boolean {
  return socket.destroyed && !socket.readableEnded && !SENDER_GONE.has(syscallOf(socket.errored) ?? '');
}

/** What the system was doing for a connection when it found out that the other side has gone. */
const SENDER_GONE: ReadonlySet<string> = new Set(['read', 'write']);

function syscallOf(error: NodeJS.ErrnoException | null): string | undefined {
  return error?.syscall;
}

/** A response that has closed says no more when it is ended. */
function endWith(handling: Handling, res: ServerResponse): void {
  const end = res.end.bind(res) as (...given: unknown[]) => ServerResponse;
  res.end = (...given: unknown[]): ServerResponse => {
    handling.endHandler();
    return end(...given);
  };
}

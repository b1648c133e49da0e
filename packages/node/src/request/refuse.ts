import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { TimeLimit, type InboxAnswer } from '@webhook-backpressure/core';

/** A body up to this size is read to its end, so that its connection can be kept; a larger one is not worth it. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A body that its sender has not ended so long after the answer is cut off. */
const LINGER_MS = 2000;

/** The answer has gone out in full, and the connection is kept, but not for a body that never comes. */
const small = new TimeLimit<IncomingMessage>(LINGER_MS, (req) => {
  if (!req.complete) req.socket.destroy();
});

/** The answer has gone out in full, and the connection ends with it. */
const large = new TimeLimit<ServerResponse>(LINGER_MS, (res) => {
  res.end();
});

/**
 * Sends a refusal, or another answer, and bounds what is still read of the body: never into memory, and at most
 * 64 KiB or 2 s of it.
 *
 * A body of at most 64 KiB is drained, and the connection kept. Otherwise the answer says `Connection: close`, and
 * the connection ends a little later than the answer: closed at once, with data unread, it would be reset, and the
 * sender would see that and not the answer. A response whose headers are sent already is left alone.
 *
 * @param options - `fields`: more headers. `awaitsContinue`: the sender was not told to send its body.
 */
export function writeRefusal(
  req: IncomingMessage,
  res: ServerResponse,
  refusal: InboxAnswer,
  options: { fields?: Record<string, string> | undefined; awaitsContinue?: boolean | undefined } = {},
): void {
  if (res.headersSent) return;
  // At once, also where the answer has to wait for a packet: who comes back from `next()` logs this status.
  res.statusCode = refusal.status;
  const { fields, awaitsContinue = false } = options;
  const headers: Record<string, string | number> = { ...fields, ...refusal.headers };
  // The one success without a body must not say how long it is.
  if (refusal.status !== 204) headers['Content-Length'] = Buffer.byteLength(refusal.body);
  const end = (): void => {
    // In two calls: a middleware may have wrapped writeHead in a function that returns nothing.
    res.writeHead(refusal.status, headers);
    res.end(refusal.body);
  };
  if (req.httpVersionMajor > 1) {
    // HTTP/2 has no such header, and needs none of what follows: a stream is refused alone.
    delete headers['Connection'];
    end();
    endStream(res);
    return;
  }
  const length = unreadBytes(req);
  // A sender that asked whether to send may have lost its patience and be sending.
  const isKept = res.shouldKeepAlive && headers['Connection'] === undefined && !awaitsContinue;
  if (length === 0) {
    end();
  } else if (length <= SMALL_BODY_BYTES && isKept) {
    // Node reads on to the end of the body by itself, once the answer is finished.
    boundBody(req, res);
    end();
  } else if (length > SMALL_BODY_BYTES && length !== Infinity) {
    writeAndLinger(req, res, refusal, headers);
  } else {
    afterPacket(() => {
      if (res.headersSent) return;
      if (req.complete) end();
      else writeAndLinger(req, res, refusal, headers);
    });
  }
}

/** A stream whose body somebody has looked at is not reset by node itself, and would stay open for the rest of the body. */
function endStream(res: ServerResponse): void {
  const { stream } = res as unknown as Partial<Http2ServerResponse>;
  stream?.once('finish', () => {
    if (!stream.closed && !stream.readableEnded) stream.close();
  });
}

/** Sets the headers that an answer gets beside its own, unless it is on its way already. */
export function setHeaders(res: ServerResponse, fields: Record<string, string> | undefined): void {
  if (fields === undefined || res.headersSent) return;
  for (const [name, value] of Object.entries(fields)) res.setHeader(name, value);
}

/**
 * Bounds what is read of the body once somebody else has answered in place of a refusal: a handler of the caller's own,
 * or the framework.
 */
export function boundBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.httpVersionMajor > 1 || unreadBytes(req) === 0) return;
  // Before node's own listener, which would read a body that nobody has touched to its end, and throw it away.
  res.prependListener('finish', () => {
    boundRest(req);
  });
}

/** How much of the body may still come; Infinity when its sender did not say. */
function unreadBytes(req: IncomingMessage): number {
  if (req.complete) return 0;
  const length = req.headers['content-length'];
  if (length !== undefined) return Number(length);
  return req.headers['transfer-encoding'] === undefined ? 0 : Infinity;
}

/**
 * A small body comes in the same packet as its headers, and most are complete once the packet has been parsed. A tick
 * would be too early: node runs ticks between the body and its end.
 */
function afterPacket(action: () => void): void {
  setImmediate(action);
}

/** The answer is out. The rest of the body may come, up to a size and for a while. */
function boundRest(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  readSome(req);
  small.start(req);
  req.once('close', () => {
    small.stop(req);
  });
}

/** Reads what fits into the bound and drops it. Then the sender is held back by its own socket. */
function readSome(req: IncomingMessage): void {
  let left = SMALL_BODY_BYTES;
  const take = (chunk: Buffer | null): void => {
    left -= chunk?.length ?? 0;
    if (left <= 0) req.pause();
  };
  // Node takes a body of which nobody has read anything for one that it may drop itself.
  take(req.read() as Buffer | null);
  req.on('data', take);
  if (left <= 0) req.pause();
}

function writeAndLinger(
  req: IncomingMessage,
  res: ServerResponse,
  refusal: InboxAnswer,
  headers: Record<string, string | number>,
): void {
  headers['Connection'] = 'close';
  res.writeHead(refusal.status, headers);
  res.write(refusal.body);
  large.start(res);
  res.once('close', () => {
    large.stop(res);
  });
  readSome(req);
  req.once('end', () => {
    res.end();
  });
}

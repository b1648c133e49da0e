import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { TimeLimit } from '@webhook-backpressure/base';
import type { InboxAnswer } from '@webhook-backpressure/inbox';
import { hasConnection } from './messages.ts';

/** A body up to this size is read to its end, so that the connection can be kept. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A body that has not ended this long after the answer is cut off. */
const LINGER_MS = 2000;

/** The answer has been sent and the connection is kept, but not for a body that never arrives. */
const small = new TimeLimit<IncomingMessage>(LINGER_MS, (req) => {
  if (!req.complete) req.socket.destroy();
});

/** The answer has been sent, and the connection ends. */
const large = new TimeLimit<ServerResponse>(LINGER_MS, (res) => {
  res.end();
});

/**
 * Sends a refusal or another answer, and bounds what is still read of the body: at most 64 KiB or 2 s, and never into
 * memory.
 *
 * A body of at most 64 KiB is drained, and the connection is kept. Otherwise the answer has `Connection: close`, and the
 * connection ends a little later than the answer: if it were closed immediately, with data unread, it would be reset, and
 * the sender would not see the answer. Does nothing if the headers have been sent.
 *
 * @param options - `fields`: additional headers. `awaitsContinue`: the sender has not been asked for its body.
 */
export function writeRefusal(
  req: IncomingMessage,
  res: ServerResponse,
  refusal: InboxAnswer,
  options: { fields?: Record<string, string> | undefined; awaitsContinue?: boolean | undefined } = {},
): void {
  if (res.headersSent) return;
  // Set before the answer is sent, which may have to wait for a packet: middleware logs this status after `next()`.
  res.statusCode = refusal.status;
  const { fields, awaitsContinue = false } = options;
  const headers: Record<string, string | number> = { ...fields, ...refusal.headers };
  // 204 has no body and must not have a Content-Length.
  if (refusal.status !== 204) headers['Content-Length'] = Buffer.byteLength(refusal.body);
  const end = (): void => {
    // Two calls: a middleware may have wrapped writeHead in a function that returns nothing.
    res.writeHead(refusal.status, headers);
    res.end(refusal.body);
  };
  if (req.httpVersionMajor > 1) {
    // HTTP/2 has no such header and needs nothing of what follows: streams are refused separately.
    delete headers['Connection'];
    end();
    endStream(res);
    return;
  }
  const length = unreadBytes(req);
  // A sender that waits for `100 Continue` may send its body anyway after a while.
  const isKept = res.shouldKeepAlive && headers['Connection'] === undefined && !awaitsContinue;
  if (length === 0) {
    end();
  } else if (length <= SMALL_BODY_BYTES && isKept) {
    // Node itself reads the body to its end once the answer has finished.
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

/** Node does not reset a stream whose body was touched: it would stay open for the rest of the body. */
function endStream(res: ServerResponse): void {
  const { stream } = res as unknown as Partial<Http2ServerResponse>;
  stream?.once('finish', () => {
    if (!stream.closed && !stream.readableEnded) stream.close();
  });
}

/**
 * Bounds what is read of the body after the caller's own handler, or the framework, has answered instead of a refusal.
 */
export function boundBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.httpVersionMajor > 1 || unreadBytes(req) === 0) return;
  // Before node's own listener, which would read an untouched body to its end and discard it.
  res.prependListener('finish', () => {
    boundRest(req);
  });
}

/** How much of the body may still arrive; Infinity if its length is unknown. */
function unreadBytes(req: IncomingMessage): number {
  if (req.complete || !hasConnection(req)) return 0;
  const length = req.headers['content-length'];
  if (length !== undefined) return Number(length);
  return req.headers['transfer-encoding'] === undefined ? 0 : Infinity;
}

/**
 * A small body arrives in the same packet as its headers and is complete once the packet has been parsed. The next tick
 * would be too early: node runs ticks between the body and its end.
 */
function afterPacket(action: () => void): void {
  setImmediate(action);
}

/** The answer has been sent. The rest of the body may arrive, up to a size and for a while. */
function boundRest(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  readSome(req);
  small.start(req);
  req.once('close', () => {
    small.stop(req);
  });
}

/** Reads and discards what is within the bound. Then the socket holds the sender back. */
function readSome(req: IncomingMessage): void {
  let left = SMALL_BODY_BYTES;
  const take = (chunk: Buffer | null): void => {
    left -= chunk?.length ?? 0;
    if (left <= 0) req.pause();
  };
  // Node discards a body of which nothing has been read.
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import { TimeLimit } from '@webhook-backpressure/base';
import { completeOf, hasConnection, headersOf, responseSocketOf, versionOf } from './messages.ts';

/** The part of a body that node may buffer before its delivery has a worker. The handler reads the rest. */
const MAX_BYTES = 1024 * 1024;
/** The same for all bodies together. Above it, buffers keep their size. */
const MAX_OF_ALL_BYTES = 64 * 1024 * 1024;
/** The part of a body that has to arrive within each timeout. */
const STEP_BYTES = 64 * 1024;
/** The number of requests that go on in one turn of the event loop. */
const PER_TURN = 64;
/** No real client pipelines more requests than this behind one response, and each takes memory: the connection is closed. */
const MAX_IN_LINE = 256;

/**
 * - `here`: the body is complete or fills the buffer
 * - `late`: the sender took too long
 * - `gone`: the sender has hung up
 */
export type BodyArrival = 'here' | 'late' | 'gone';

/** Whether no more of the body will arrive, according to the headers and node's parser. */
export function hasArrived(req: IncomingMessage): boolean {
  if (completeOf(req)) return true;
  if (versionOf(req) > 1) return isComplete(req);
  const headers = headersOf(req);
  const length = headers['content-length'];
  const isEmpty = length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
  // Without a connection there is no slow sender, and the framework has to see the errors of the body.
  return isEmpty || !hasConnection(req);
}

/** In HTTP/2, `complete` means that the body has been consumed. */
function isComplete(req: IncomingMessage): boolean {
  if (req.complete) return true;
  const { stream } = req as unknown as Partial<Http2ServerRequest>;
  if (stream !== undefined) return stream.endAfterHeaders || stream.readableEnded;
  // Not every host that makes requests itself marks them as complete.
  return req.readableLength >= Number(req.headers['content-length']);
}

/**
 * Waits for the bodies of one middleware's requests: a delivery gets a worker when its body has arrived or fills node's
 * buffer. Otherwise ten senders that send a byte a second would hold ten workers. Node also notices that a sender has
 * hung up only while it reads. Nothing is consumed here: the bytes stay in node's buffer for the body parser.
 */
export class BodyArrivals {
  readonly #limit: TimeLimit<(how: BodyArrival) => void>;
  /** The part of the budget that each request has reserved. */
  readonly #held = new Map<IncomingMessage, number>();
  #heldBytes = 0;

  constructor(timeoutMs: number) {
    this.#limit = new TimeLimit(timeoutMs, (settle) => {
      settle('late');
    });
  }

  /** Waits for the body of this request. Call `release` when the handler starts, or when it will not. */
  wait(req: IncomingMessage): Promise<BodyArrival> {
    if (isComplete(req)) return Promise.resolve('here');
    if (req.destroyed) return Promise.resolve('gone');
    return new Promise((resolve) => {
      let nextStep = STEP_BYTES;
      const settle = (how: BodyArrival): void => {
        this.#limit.stop(settle);
        req.off('readable', onReadable).off('close', onGone);
        resolve(how);
      };
      const onReadable = (): void => {
        if (isComplete(req) || req.readableLength >= MAX_BYTES) {
          settle('here');
          return;
        }
        if (req.readableLength >= req.readableHighWaterMark) {
          // Reserved before node may read it: afterwards node fills its buffer, whatever becomes of the delivery.
          const bytes = doubled(req.readableLength);
          if (!this.#hold(req, bytes)) {
            settle('here');
            return;
          }
          // More than has arrived: this reads nothing and enlarges the buffer.
          req.read(bytes);
        }
        if (req.readableLength < nextStep) return;
        nextStep = req.readableLength + STEP_BYTES;
        this.#limit.start(settle);
      };
      const onGone = (): void => {
        settle('gone');
      };
      req.on('readable', onReadable).on('close', onGone);
      this.#limit.start(settle);
    });
  }

  release(req: IncomingMessage): void {
    this.#heldBytes -= this.#held.get(req) ?? 0;
    this.#held.delete(req);
  }

  /** Reserves this many bytes of the budget in all for a request, unless that exceeds it. */
  #hold(req: IncomingMessage, bytes: number): boolean {
    const more = bytes - (this.#held.get(req) ?? 0);
    if (more <= 0) return true;
    if (this.#heldBytes + more > MAX_OF_ALL_BYTES) return false;
    this.#heldBytes += more;
    this.#held.set(req, bytes);
    return true;
  }
}

/** The next power of two, which is how node's buffers grow. */
function doubled(bytes: number): number {
  return 2 ** (Math.floor(Math.log2(bytes)) + 1);
}

let waiting: (() => void)[] = [];
let next = 0;

/**
 * Waits for the end of this turn of the event loop, when bodies that arrived in the same packet as their headers have been
 * read. At most 64 requests go on in one turn, and the others in later ones: after a standstill a thousand connections may
 * be waiting, and running handlers, their sockets and the timers must not wait for all of them.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const end = Math.min(waiting.length, next + PER_TURN);
  while (next < end) waiting[next++]?.();
  if (next < waiting.length) {
    setImmediate(goOn);
    return;
  }
  waiting = [];
  next = 0;
}

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
    const line = lineOf(socket);
    line.add(resolve);
    if (line.size > MAX_IN_LINE) {
      socket.destroy();
      return;
    }
    // With this call node makes the response the one that the connection sends. There is no event for it.
    const assign = res.assignSocket.bind(res);
    res.assignSocket = (given) => {
      res.assignSocket = assign;
      assign(given);
      line.delete(resolve);
      resolve(true);
    };
  });
}

function lineOf(socket: Socket): Set<(isOpen: boolean) => void> {
  const known = inLine.get(socket);
  if (known !== undefined) return known;
  const line = new Set<(isOpen: boolean) => void>();
  inLine.set(socket, line);
  // When a connection closes, node emits `close` on the first response only.
  socket.once('close', () => {
    for (const resolve of line) resolve(false);
    line.clear();
  });
  return line;
}

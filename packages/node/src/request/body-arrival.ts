import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TimeLimit } from '@webhook-backpressure/base';
import { completeOf, headersOf, majorVersionOf } from './read-property.ts';

/** The part of a body that node may buffer before its delivery has a worker. The handler reads the rest. */
const MOST_BYTES = 1024 * 1024;
/** The same for all bodies together. Above it, buffers keep their size. */
const MOST_OF_ALL_BYTES = 64 * 1024 * 1024;
/** The part of a body that has to arrive within each timeout. */
const STEP_BYTES = 64 * 1024;

/**
 * - `here`: the body is complete or fills the buffer
 * - `late`: the sender took too long
 * - `gone`: the sender has hung up
 */
export type BodyArrival = 'here' | 'late' | 'gone';

/** Whether no more of the body will arrive, according to the headers and node's parser. */
export function hasArrived(req: IncomingMessage): boolean {
  if (completeOf(req)) return true;
  if (majorVersionOf(req) > 1) return isComplete(req);
  const headers = headersOf(req);
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
}

/** In HTTP/2, `complete` means that the body has been consumed. */
function isComplete(req: IncomingMessage): boolean {
  if (req.complete) return true;
  const { stream } = req as unknown as Partial<Http2ServerRequest>;
  if (stream !== undefined) return stream.endAfterHeaders || stream.readableEnded;
  // A request without a connection, such as one of `inject()` of Fastify, is never marked as complete.
  return req.readableLength >= Number(req.headers['content-length']);
}

/**
 * Waits for the bodies of one middleware's requests: a delivery gets a worker when its body has arrived or fills node's
 * buffer. Otherwise ten senders that send a byte a second would hold ten workers. Node also notices that a sender has
 * hung up only while it reads. Nothing is consumed here: the bytes stay in node's buffer for the body parser.
 */
export class BodyArrivals {
  readonly #limit: TimeLimit<(how: BodyArrival) => void>;
  #heldBytes = 0;

  constructor(timeoutMs: number) {
    this.#limit = new TimeLimit(timeoutMs, (settle) => {
      settle('late');
    });
  }

  /** Waits for the body of this request. Call `close` when the handler starts, or when it will not. */
  of(req: IncomingMessage): { wait(): Promise<BodyArrival>; close(): void } {
    let heldBytes = 0;
    const hold = (bytes: number): boolean => {
      const allBytes = this.#heldBytes + bytes - heldBytes;
      if (bytes > heldBytes && allBytes > MOST_OF_ALL_BYTES) return false;
      this.#heldBytes = allBytes;
      heldBytes = bytes;
      return true;
    };
    return {
      wait: () => this.#wait(req, hold),
      close: () => {
        hold(0);
      },
    };
  }

  /** @param hold - reserves this many bytes of the budget in all, until the arrival is closed. */
  #wait(req: IncomingMessage, hold: (bytes: number) => boolean): Promise<BodyArrival> {
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
        if (isComplete(req) || req.readableLength >= MOST_BYTES) {
          settle('here');
          return;
        }
        if (req.readableLength >= req.readableHighWaterMark) {
          // Reserved before node may read it: afterwards node fills its buffer, whatever becomes of the delivery.
          const bytes = doubled(req.readableLength);
          if (!hold(bytes)) {
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
}

/** The next power of two, which is how node's buffers grow. */
function doubled(bytes: number): number {
  return 2 ** (Math.floor(Math.log2(bytes)) + 1);
}

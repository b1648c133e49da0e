import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TimeLimit } from '@webhook-backpressure/core';
import { completeOf, headersOf, majorVersionOf } from './read-property.ts';

/** So much of one body node may hold before its delivery has a worker; a larger body is read on by its handler. */
const MOST_BYTES = 1024 * 1024;
/** And so much of all bodies together; beyond that, of each what it has been allowed by then. */
const MOST_OF_ALL_BYTES = 64 * 1024 * 1024;
/** So much of a body has to come within each timeout. */
const STEP_BYTES = 64 * 1024;

/**
 * - `here`: it is complete, or as much of it as fits
 * - `late`: its sender took too long
 * - `gone`: its sender has hung up
 */
export type BodyArrival = 'here' | 'late' | 'gone';

/** Whether nothing of the body is still on its way, as far as the headers and node's parser tell. */
export function hasArrived(req: IncomingMessage): boolean {
  if (completeOf(req)) return true;
  if (majorVersionOf(req) > 1) return isComplete(req);
  const headers = headersOf(req);
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
}

/** With HTTP/2 `complete` says whether the body has been consumed. */
function isComplete(req: IncomingMessage): boolean {
  if (req.complete) return true;
  const { stream } = req as unknown as Partial<Http2ServerRequest>;
  return stream !== undefined && (stream.endAfterHeaders || stream.readableEnded);
}

/**
 * How the bodies of one middleware arrive: no delivery gets a worker before its body is there, or as much of it as node
 * may hold. Ten senders that send a byte a second would hold ten workers otherwise; and a sender that hangs up is seen
 * only while node reads on. Nothing is read here: the bytes stay in node's buffer, for whoever parses the body later.
 */
export class BodyArrivals {
  readonly #limit: TimeLimit<(how: BodyArrival) => void>;
  #heldBytes = 0;

  constructor(timeoutMs: number) {
    this.#limit = new TimeLimit(timeoutMs, (settle) => {
      settle('late');
    });
  }

  /** The arrival of the body of this request. To be closed when its handler begins, or it is not going to. */
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

  /** @param hold - asks for so many bytes of the budget in all, until the arrival is closed. */
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
          // Asked for before node may read it: from then on it reads as much, whatever becomes of the delivery.
          const bytes = doubled(req.readableLength);
          if (!hold(bytes)) {
            settle('here');
            return;
          }
          // More than there is: it reads nothing, and makes the buffer larger.
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

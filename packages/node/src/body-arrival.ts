import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TimeLimit } from '@webhook-backpressure/core';
import { look } from './look.ts';

/** A large body is read ahead up to here once its delivery has a worker. */
const READ_AHEAD_BYTES = 1024 * 1024;
/** So much of a large body has to come within each timeout. */
const STEP_BYTES = 64 * 1024;

/**
 * - `here`: it is complete, or as much of it as fits
 * - `late`: its sender took too long
 * - `gone`: its sender has hung up
 */
export type BodyArrival = 'here' | 'late' | 'gone';

/** Whether nothing of the body is still on its way, as far as the headers and node's parser tell. */
export function hasArrived(req: IncomingMessage): boolean {
  if (look(req, 'complete')) return true;
  if (look(req, 'httpVersionMajor') > 1) return isComplete(req);
  const headers = look(req, 'headers');
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
 * How the bodies of one middleware arrive. Nothing is read here: bytes stay in node's own buffer, for whoever parses
 * the body later.
 */
export class BodyArrivals {
  readonly #limit: TimeLimit<(arrival: BodyArrival) => void>;

  constructor(timeoutMs: number) {
    this.#limit = new TimeLimit(timeoutMs, (settle) => {
      settle('late');
    });
  }

  /** Waits until the body is complete or node's buffer is full: before that its delivery gets no worker. */
  untilBuffered(req: IncomingMessage): Promise<BodyArrival> {
    return this.#until(req, () => req.readableLength >= req.readableHighWaterMark);
  }

  /**
   * Has node read on, up to 1 MiB, until the body is complete. While a delivery with a large body waits, its socket is
   * not read, so that nobody sees its sender hang up; and its handler would run for nobody.
   */
  async readAhead(req: IncomingMessage): Promise<BodyArrival> {
    let nextStep = req.readableLength + STEP_BYTES;
    // More than there is: it only makes the buffer larger.
    req.read(READ_AHEAD_BYTES);
    const arrival = await this.#until(
      req,
      () => req.readableLength >= READ_AHEAD_BYTES,
      () => {
        if (req.readableLength < nextStep) return false;
        nextStep = req.readableLength + STEP_BYTES;
        return true;
      },
    );
    // The end of the connection comes after the last of the body: it is read in the turn after this one.
    if (arrival === 'here') {
      await turn();
      await turn();
    }
    return arrival;
  }

  #until(
    req: IncomingMessage,
    isFull: () => boolean,
    hasAdvanced: () => boolean = () => false,
  ): Promise<BodyArrival> {
    if (isComplete(req) || isFull()) return Promise.resolve('here');
    if (req.destroyed) return Promise.resolve('gone');
    return new Promise((resolve) => {
      const settle = (arrival: BodyArrival): void => {
        this.#limit.stop(settle);
        req.off('readable', onReadable).off('close', onGone);
        resolve(arrival);
      };
      const onReadable = (): void => {
        if (isComplete(req) || isFull()) settle('here');
        else if (hasAdvanced()) this.#limit.start(settle);
      };
      const onGone = (): void => {
        settle('gone');
      };
      req.on('readable', onReadable).on('close', onGone);
      this.#limit.start(settle);
    });
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

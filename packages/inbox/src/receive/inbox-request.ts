import type { RequestHeaders } from '@webhook-backpressure/senders';
import type { RequestParts } from '../delivery/request-facts.ts';

/** Receives the bytes of a body. */
export interface BodySink {
  /** Adds the next bytes. Returns false when no more are wanted: the reader stops. */
  add(chunk: Uint8Array): boolean;
}

/**
 * How the reading of a body ended.
 *
 * - `whole`: the body ended, or no more of it was wanted
 * - `gone`: the sender disconnected before
 * - `consumed`: the body had been read already
 */
export type BodyEnd = 'whole' | 'gone' | 'consumed';

/** A request, as an adapter passes it to an inbox. */
export interface InboxRequest extends RequestParts {
  /** The request of the framework, for the option `context`. */
  readonly source?: unknown;
  /** All headers, names in lower case. */
  readonly headers: RequestHeaders;
  /** Reads the body into the sink until it ends or no more is wanted. Never rejects. */
  read(body: BodySink): Promise<BodyEnd>;
  /** How to fix, in this framework, that something else has read the body before. */
  readonly hint: string;
}

/** One request to an endpoint. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the attempt must end: at the timeout, or when the sender closes. */
  readonly signal: AbortSignal;
}

/** The answer of an endpoint. */
export interface Answer {
  readonly status: number;
  /** The value of a header, by its name in lower case; undefined without it. Several values are joined by a comma. */
  readonly header: (name: string) => string | undefined;
  /** Up to 64 KiB; the rest is not read. */
  readonly body: Uint8Array;
}

/**
 * Why there is no answer:
 *
 * - `timeout`: the signal was aborted by the timeout
 * - `connection`: no connection, or it ended before the answer
 * - `address`: the address is not allowed
 * - `invalid`: the answer is no HTTP
 */
export type RequestFailureKind = 'timeout' | 'connection' | 'address' | 'invalid';

/** A request without an answer. The message contains neither secrets nor the body. */
export class RequestFailure extends Error {
  readonly kind: RequestFailureKind;

  constructor(kind: RequestFailureKind, message: string) {
    super(message);
    this.name = 'RequestFailure';
    this.kind = kind;
  }
}

/** Makes requests. */
export interface Requester {
  /** Resolves with the answer, or rejects with a {@link RequestFailure}. */
  send(request: OutgoingRequest): Promise<Answer>;
  /** Closes all connections. */
  close(): Promise<void>;
}

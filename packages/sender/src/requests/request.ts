import { readThrown } from '@webhook-backpressure/base';

/** One request to an endpoint. */
export interface OutgoingRequest {
  readonly method: 'POST' | 'OPTIONS';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for OPTIONS. */
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

/** The error of a connection to an address that is not allowed. */
export class ForbiddenAddress extends Error {
  constructor() {
    super('The address is private, and allowPrivateAddresses is false.');
  }
}

// The errors of undici for answers and headers that are no HTTP. The parser's has no code in some cases.
const INVALID =
  /^(?:HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RES_|RESPONSE|INVALID_ARG|NOT_SUPPORTED)|HTTPParserError)/;

/**
 * Why a request failed, from what undici or `fetch` threw. The message contains the name of the error and the address, but
 * never the path of the URL, which can hold a secret.
 */
export function failureOf(thrown: unknown): RequestFailure {
  return (
    readThrown(() => requestFailureOf(thrown), undefined) ??
    new RequestFailure('connection', 'The connection failed: what was thrown cannot be read')
  );
}

function requestFailureOf(thrown: unknown): RequestFailure {
  if (thrown instanceof RequestFailure) return thrown;
  const error = rootOf(thrown);
  if (error instanceof ForbiddenAddress) return new RequestFailure('address', error.message);
  const { code: given, reason } = error as { code?: unknown; reason?: unknown };
  const code = typeof given === 'string' ? given : '';
  const kind: RequestFailureKind = INVALID.test(code || error.name) ? 'invalid' : 'connection';
  // OpenSSL's message also contains the number of the thread, its source file and a line break.
  const isOpenSsl = code.startsWith('ERR_SSL_') && typeof reason === 'string';
  const message = (isOpenSsl ? reason : error.message).slice(0, 300);
  const start = kind === 'invalid' ? 'The answer is no valid HTTP' : 'The connection failed';
  return new RequestFailure(
    kind,
    `${start}: ${code && !message.includes(code) ? `${code}, ` : ''}${message}`,
  );
}

export function timeoutFailure(): RequestFailure {
  return new RequestFailure('timeout', 'No answer within the timeout.');
}

/** `fetch` wraps the cause, and a connection to several addresses has an error for each. */
function rootOf(thrown: unknown, depth = 0): Error {
  if (!(thrown instanceof Error)) return new Error('something else than an error was thrown');
  const inner: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown.cause;
  return inner instanceof Error && depth < 5 ? rootOf(inner, depth + 1) : thrown;
}

/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 65_536;

/** The body of an answer while it arrives, up to 64 KiB. */
export class AnswerBody {
  readonly chunks: Uint8Array[] = [];
  #length = 0;

  /** Returns false when no more is wanted. */
  add(chunk: Uint8Array): boolean {
    const room = MAX_ANSWER_BYTES - this.#length;
    const part = chunk.byteLength > room ? chunk.subarray(0, room) : chunk;
    this.chunks.push(part);
    this.#length += part.byteLength;
    return chunk.byteLength <= room;
  }
}

/** An answer with headers as Node.js has them: names in lower case, a list for a repeated header. */
export function answerOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: AnswerBody,
): Answer {
  return {
    status,
    header: (name) => {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: Buffer.concat(body.chunks),
  };
}

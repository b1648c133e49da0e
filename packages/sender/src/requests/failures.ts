import { RequestFailure, type RequestFailureKind } from './request.ts';

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
  const error = rootOf(thrown);
  if (error instanceof ForbiddenAddress) return new RequestFailure('address', error.message);
  const code = codeOf(error);
  const kind: RequestFailureKind = INVALID.test(code || error.name) ? 'invalid' : 'connection';
  const message = error.message.slice(0, 300);
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

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

import { pageDocument, pageHashes } from '../page/document.ts';

/** Only the page's own script and style run, and they connect only to where the page came from. */
const POLICY = [
  "default-src 'none'",
  `script-src '${pageHashes.script}'`,
  `style-src '${pageHashes.style}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What all answers have. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * What the answers have that a page asks for again when its connection is lost. On a connection that stays open, it would
 * do so again and again, and keep a server that closes from ending.
 */
export const LAST_OF_CONNECTION: Readonly<Record<string, string>> = { Connection: 'close' };

/** Why a request was not carried out. */
export type ProblemCode =
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | 'READ_ONLY'
  | 'OTHER_ORIGIN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'TOO_LARGE'
  | 'NOT_JSON'
  | 'TOO_MANY_PAGES'
  | 'CLOSED'
  | 'FAILED';

const STATUS: Readonly<Record<ProblemCode, number>> = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  READ_ONLY: 403,
  OTHER_ORIGIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  TOO_MANY_PAGES: 503,
  CLOSED: 503,
  FAILED: 500,
};

const HELP =
  'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/dashboard.md#answers';

export function html(): Response {
  const headers = { ...SECURITY_HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
  return new Response(pageDocument, { headers });
}

export function json(value: unknown, status = 200, extra: Readonly<Record<string, string>> = {}): Response {
  const headers = { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8', ...extra };
  return new Response(JSON.stringify(value), { status, headers });
}

export function problem(
  code: ProblemCode,
  message: string,
  extra: Readonly<Record<string, string>> = {},
): Response {
  // An unauthorized client gets no address that names this library.
  const help = code === 'UNAUTHORIZED' ? {} : { help: HELP };
  return json({ code, message, ...help }, STATUS[code], extra);
}

/** Thrown instead of an answer when a request is not carried out. */
export class Refused extends Error {
  readonly answer: Response;

  constructor(answer: Response) {
    super('The request was refused.');
    this.answer = answer;
  }
}

export function refused(
  code: ProblemCode,
  message: string,
  extra: Readonly<Record<string, string>> = {},
): Refused {
  return new Refused(problem(code, message, extra));
}

/** The answer that carries the events of an open page. */
export function eventStream(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, {
    headers: {
      ...SECURITY_HEADERS,
      ...LAST_OF_CONNECTION,
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Compression and proxies would hold events back until they have enough of them.
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
  });
}

import { pageDocument } from '../page/document.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

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

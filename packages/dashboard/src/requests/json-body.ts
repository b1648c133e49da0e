import { problem } from '../answers/answers.ts';
import type { Incoming } from './incoming.ts';

/** The largest body of a request, in bytes. */
const MAX_BODY_BYTES = 65_536;

/** Reads the JSON object in the body of a request. Resolves to the answer instead when there is none. */
export async function readJsonBody({
  request,
  readBody,
}: Incoming): Promise<Response | Readonly<Record<string, unknown>>> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    return problem('NOT_JSON', 'The content type must be application/json.');
  }
  let text: string | null;
  try {
    text = await readBody(MAX_BODY_BYTES);
  } catch {
    // Its client has gone, which is no failure of the page.
    return problem('BAD_REQUEST', 'The body could not be read.');
  }
  if (text === null) {
    return problem('TOO_LARGE', `The body has more than ${String(MAX_BODY_BYTES)} bytes.`);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return problem('BAD_REQUEST', 'The body is not JSON.');
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return body as Readonly<Record<string, unknown>>;
  }
  return problem('BAD_REQUEST', 'The body must be a JSON object.');
}

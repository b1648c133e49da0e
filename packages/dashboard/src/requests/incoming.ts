import { refused } from '../answers/answers.ts';

/** A request, whatever it arrived through. */
export interface Incoming {
  /** As `authorize` and `onChange` get it. Its body is not read. */
  readonly request: Request;
  /** The path as the framework passes it on, without the query. Not decoded. */
  readonly path: string;
  /** Whether the framework has removed the path of the mount from `path`. Not every framework says so. */
  readonly isBelowMount: boolean;
  /** Whether the server still takes connections. One that closes waits until all open pages have gone. */
  readonly isServing: () => boolean;
  /**
   * Reads the body as text.
   *
   * @returns null when it has more bytes than that.
   */
  readonly readBody: (maxBytes: number) => Promise<string | null>;
}

/** A web-standard request, as Hono, Bun and Deno pass it. */
export function incomingOf(request: Request): Incoming {
  return {
    request,
    path: new URL(request.url).pathname,
    isBelowMount: false,
    // Only node:http knows.
    isServing: () => true,
    readBody: (maxBytes) => textOf(request, maxBytes),
  };
}

async function textOf(request: Request, maxBytes: number): Promise<string | null> {
  if (Number(request.headers.get('content-length')) > maxBytes) return null;
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  const reader = request.body.getReader();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The largest body of a request, in bytes. */
const MAX_BODY_BYTES = 65_536;

/** Reads the JSON object in the body of a request. */
export async function readJsonBody({
  request,
  readBody,
}: Incoming): Promise<Readonly<Record<string, unknown>>> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw refused('NOT_JSON', 'The content type must be application/json.');
  }
  // A client that has gone is no failure of the page.
  const text = await readBody(MAX_BODY_BYTES).catch(() => undefined);
  if (text === undefined) throw refused('BAD_REQUEST', 'The body could not be read.');
  if (text === null) throw refused('TOO_LARGE', `The body has more than ${String(MAX_BODY_BYTES)} bytes.`);
  const body = parsed(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return body as Readonly<Record<string, unknown>>;
  }
  throw refused('BAD_REQUEST', 'The body must be a JSON object.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused('BAD_REQUEST', 'The body is not JSON.');
  }
}

import { TimeLimit } from '@webhook-backpressure/base';
import type { Handling } from '@webhook-backpressure/core/middleware';
import type { Outcome } from '@webhook-backpressure/core';

/** A body in memory has ended after this many microtask turns; a streamed one has not. */
const MICROTASKS = 32;
/** How many chunks of a streamed body are read ahead. */
const READ_AHEAD_CHUNKS = 2;
/** A body that is not read for this long holds no permit: the response may have been dropped. */
const UNREAD_MS = 5000;

type Chunk = ReadableStreamReadResult<Uint8Array>;

const unread = new TimeLimit<() => void>(UNREAD_MS, (end) => {
  end();
});

/**
 * Holds the permit until the body of the response has ended. Called when the handler has returned.
 *
 * @param method - of the request: a response to HEAD has no body, whatever the handler returned.
 * @returns the response to send: the same, or one with the same bytes, whose end is known.
 */
export function followResponse(
  response: Response,
  method: string,
  handling: Handling,
): Response | Promise<Response> {
  // `Response.error()` has status 0, and what is not a response none.
  const { status } = (response as Partial<Response> | null | undefined) ?? {};
  const outcome = status === 0 || (status ?? 200) >= 500 ? 'failure' : 'success';
  const body = bodyOf(response);
  if (body === null || body === undefined || method === 'HEAD') {
    handling.endResponse(outcome);
    return response;
  }
  return followBody(response, body, outcome, handling);
}

async function followBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  outcome: Outcome,
  handling: Handling,
): Promise<Response> {
  const reader = body.getReader();
  const begin = await readBegin(reader);
  if (begin.isWhole) {
    handling.endResponse(outcome);
    // Recreated from bytes instead of a stream, so that the runtime sets Content-Length.
    return new Response(begin.bytes, response);
  }
  handling.watchDeparture();
  return new Response(followed(reader, begin.read, outcome, handling), response);
}

/** Adds headers to a response, whose headers may be immutable. */
export function withHeaders(response: Response, fields: Record<string, string> | undefined): Response {
  if (fields === undefined || bodyOf(response) === undefined) return response;
  const changed = new Response(response.body, response);
  for (const [name, value] of Object.entries(fields)) changed.headers.set(name, value);
  return changed;
}

/**
 * The body that can be followed, null if there is none, and undefined for a response that cannot be recreated. Some
 * frameworks accept handlers that return no response, and responses of polyfills, whose body is no web-standard stream.
 * Responses with status 101, and `Response.error()`, have no constructor. A body may have another reader, for example when a
 * middleware `timeout` has responded meanwhile.
 */
function bodyOf(response: Response | null | undefined): ReadableStream<Uint8Array> | null | undefined {
  const { status = 0, body, bodyUsed } = (response ?? {}) as Partial<Response>;
  if (status < 200 || status > 599) return undefined;
  if (body === null) return null;
  return typeof body?.getReader === 'function' && bodyUsed === false && !body.locked ? body : undefined;
}

type Begin =
  | { readonly isWhole: true; readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly isWhole: false; readonly read: Promise<Chunk>[] };

/** Checks whether the body is in memory: then one chunk and the end are available within a few microtasks. */
async function readBegin(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Begin> {
  const chunks: Chunk[] = [];
  const note = (chunk: Chunk): Chunk => {
    chunks.push(chunk);
    return chunk;
  };
  // One after the other: on workerd a stream can have only one pending read.
  const first = reader.read().then(note);
  const read = [first, first.then((chunk) => (chunk.done ? chunk : reader.read().then(note)))];
  // The later reader handles the rejection.
  for (const chunk of read) chunk.catch(() => undefined);
  for (let turn = 0; turn < MICROTASKS; turn += 1) {
    const [begin, end] = chunks;
    if (begin?.done === true) return { isWhole: true, bytes: null };
    if (end?.done === true) return { isWhole: true, bytes: begin?.value as Uint8Array<ArrayBuffer> };
    await Promise.resolve();
  }
  return { isWhole: false, read };
}

/** The same bytes, as a stream that reports its end or cancellation. */
function followed(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  begin: Promise<Chunk>[],
  outcome: Outcome,
  handling: Handling,
): ReadableStream<Uint8Array> {
  let out: ReadableStreamDefaultController<Uint8Array> | undefined;
  const isAllRead = (): boolean => out?.desiredSize === READ_AHEAD_CHUNKS;
  const giveUp = (): void => {
    // The source is slow, and not the reader.
    if (!isAllRead()) handling.endResponse(outcome);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        out = controller;
        if (isAllRead()) unread.stop(giveUp);
        try {
          const { done, value } = await (begin.shift() ?? reader.read());
          if (!done) {
            controller.enqueue(value);
            // Also a response with one chunk may have been dropped, while its source sends nothing more.
            if (!isAllRead()) unread.start(giveUp);
            return;
          }
          unread.stop(giveUp);
          handling.endResponse(outcome);
          controller.close();
        } catch (error) {
          unread.stop(giveUp);
          handling.endResponse('failure');
          controller.error(error);
        }
      },
      async cancel(reason) {
        unread.stop(giveUp);
        handling.cutOff();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: READ_AHEAD_CHUNKS },
  );
}

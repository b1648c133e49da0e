import { TimeLimit, type Handling, type Outcome } from '@webhook-backpressure/core';
import type { Context } from 'hono';

/** A body that is in memory has ended after so many turns of the microtasks; one that is being made has not. */
const MICROTASKS = 32;
/** How far a streamed body is read ahead of its reader. */
const READ_AHEAD_CHUNKS = 2;
/** A body of which nobody takes anything for so long holds no permit: it may have been dropped. */
const UNREAD_MS = 5000;

type Chunk = ReadableStreamReadResult<Uint8Array>;

const unread = new TimeLimit<() => void>(UNREAD_MS, (end) => {
  end();
});

/** The handlers have returned: holds the permit until the body of the response has ended. */
export async function holdForBody(c: Context, handling: Handling): Promise<void> {
  const { res } = c;
  const outcome = res.status >= 500 ? 'failure' : 'success';
  // A body that somebody else reads already, as where `timeout` has answered meanwhile, is not ours to follow; and the
  // answer to HEAD has none, whatever the handler made.
  if (res.body === null || res.bodyUsed || res.body.locked || c.req.raw.method === 'HEAD') {
    handling.endResponse(outcome);
    return;
  }
  const reader = (res.body as ReadableStream<Uint8Array>).getReader();
  const begin = await readBegin(reader);
  if (begin.isWhole) {
    // Made anew of its bytes and not of a stream, so that the runtime tells its length.
    replaceResponse(c, new Response(begin.bytes, res));
    handling.endResponse(outcome);
    return;
  }
  replaceResponse(c, new Response(followed(reader, begin.read, outcome, handling), res));
}

/** Adds headers when the answer is there: a handler may return a response that Hono's context did not make. */
export function addHeaders(c: Context, fields: Record<string, string> | undefined): void {
  // Switching protocols cannot be made anew.
  if (fields === undefined || !c.finalized || c.res.status === 101) return;
  const response = new Response(c.res.body, c.res);
  for (const [name, value] of Object.entries(fields)) response.headers.set(name, value);
  replaceResponse(c, response);
}

/** Hono would add the headers of the old response to the new one, which has them, and fail on those of a fetch. */
function replaceResponse(c: Context, response: Response): void {
  c.res = undefined;
  c.res = response;
}

type Begin =
  | { readonly isWhole: true; readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly isWhole: false; readonly read: Promise<Chunk>[] };

/** Looks whether the body is in memory: then it is one chunk and its end, and both are there without delay. */
async function readBegin(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Begin> {
  const chunks: Chunk[] = [];
  const note = (chunk: Chunk): Chunk => {
    chunks.push(chunk);
    return chunk;
  };
  const read = [reader.read().then(note), reader.read().then(note)];
  // Whoever reads them sees the failure.
  for (const chunk of read) chunk.catch(() => undefined);
  for (let turn = 0; turn < MICROTASKS; turn += 1) {
    const [first, second] = chunks;
    if (first?.done === true) return { isWhole: true, bytes: null };
    if (second?.done === true) return { isWhole: true, bytes: first?.value as Uint8Array<ArrayBuffer> };
    await Promise.resolve();
  }
  return { isWhole: false, read };
}

/** The same bytes, and word of when they have ended or were cancelled. */
function followed(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  begin: Promise<Chunk>[],
  outcome: Outcome,
  handling: Handling,
): ReadableStream<Uint8Array> {
  const giveUp = (): void => {
    handling.endResponse(outcome);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        unread.stop(giveUp);
        try {
          const { done, value } = await (begin.shift() ?? reader.read());
          if (!done) {
            controller.enqueue(value);
            if ((controller.desiredSize ?? 0) <= 0) unread.start(giveUp);
            return;
          }
          handling.endResponse(outcome);
          controller.close();
        } catch (error) {
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

import type { Admission, Outcome, Permit } from '@webhook-backpressure/core';
import type { Context } from 'hono';
import type { Life } from './life.ts';
import { stayOnWorkers, type Stay } from './workers.ts';

const cameWith = new WeakMap<Context, Request>();

/** The request that a context came with: a middleware, such as Hono's `bodyLimit`, may put another one in its place. */
export function webRequest(c: Context): Request {
  const request = cameWith.get(c) ?? c.req.raw;
  cameWith.set(c, request);
  return request;
}

/** The life of a request by web standards: its signal tells when the sender goes, the body when the response ends. */
export function webLife(c: Context): Life {
  // Some runtimes have no signal on a request.
  const signal = c.req.raw.signal as AbortSignal | undefined;
  let place: Admission | undefined;
  let permit: Permit | undefined;
  let stay: Stay | undefined;

  const abandon = (): void => {
    if (permit === undefined) place?.leave();
    else permit.release('failure');
    stay?.end();
  };
  const release = (outcome: Outcome): void => {
    signal?.removeEventListener('abort', abandon);
    permit?.release(outcome);
    stay?.end();
  };
  return {
    isOver: () => signal?.aborted === true,
    follow(admission) {
      place = admission;
      signal?.addEventListener('abort', abandon, { once: true });
      stay = stayOnWorkers(c);
    },
    wait: (turn) => stay?.wait(turn) ?? turn,
    begin(given) {
      permit = given;
      if (signal?.aborted === true) release('failure');
      return signal?.aborted !== true;
    },
    fail() {
      release('failure');
    },
    hold() {
      const { res } = c;
      const outcome = res.status >= 500 ? 'failure' : 'success';
      if (res.body === null) release(outcome);
      else replaceResponse(c, new Response(followed(res.body, outcome, release), res));
    },
  };
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

/** How far the body is read ahead: enough to see the end of one that is in memory, whether anybody reads it or not. */
const READ_AHEAD_CHUNKS = 2;

/** The same bytes, and word of when they have ended or were cancelled. */
function followed(
  body: ReadableStream<Uint8Array>,
  outcome: Outcome,
  release: (outcome: Outcome) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          release(outcome);
          controller.close();
        } catch (error) {
          release('failure');
          controller.error(error);
        }
      },
      async cancel(reason) {
        release('failure');
        await reader.cancel(reason);
      },
    },
    { highWaterMark: READ_AHEAD_CHUNKS },
  );
}

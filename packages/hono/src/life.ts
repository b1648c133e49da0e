import type { Admission, Outcome, Permit } from '@webhook-backpressure/core';
import type { Context } from 'hono';

/** How long a delivery lives: the runtime knows when its sender goes, and when its response has ended. */
export interface Life {
  /** The delivery has its permit. False when its sender has gone meanwhile; the permit is released by then. */
  begin(permit: Permit): boolean;
  /** The handlers have returned: holds the permit until the body of the response has ended. */
  hold(permit: Permit): void;
}

/** The part of node's ServerResponse that is needed here; this package does not depend on node. */
interface Outgoing {
  readonly statusCode: number;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): void;
}

/**
 * On `@hono/node-server` the life of a delivery is that of node's response, which costs one listener. Anywhere
 * else it is told by the signal of the request and by the body of the response.
 */
export function lifeOf(c: Context, place: Admission): Life {
  const outgoing = outgoingOf(c);
  return outgoing === undefined ? webLife(c, place) : nodeLife(outgoing, place);
}

function outgoingOf(c: Context): Outgoing | undefined {
  const { outgoing } = (c.env ?? {}) as { outgoing?: Partial<Outgoing> };
  return typeof outgoing?.once === 'function' && typeof outgoing.writableFinished === 'boolean'
    ? (outgoing as Outgoing)
    : undefined;
}

function nodeLife(outgoing: Outgoing, place: Admission): Life {
  let held: Permit | undefined;
  outgoing.once('close', () => {
    const isFailure = outgoing.statusCode >= 500 || !outgoing.writableFinished;
    if (held === undefined) place.leave();
    else held.release(isFailure ? 'failure' : 'success');
  });
  return {
    begin(permit) {
      held = permit;
      if (outgoing.destroyed) permit.release('failure');
      return !outgoing.destroyed;
    },
    hold: () => undefined,
  };
}

function webLife(c: Context, place: Admission): Life {
  // Some runtimes have no signal on a request that they have answered from memory.
  const signal = c.req.raw.signal as AbortSignal | undefined;
  let held: Permit | undefined;
  const end = (): void => {
    if (held === undefined) place.leave();
    else held.release('failure');
  };
  signal?.addEventListener('abort', end, { once: true });
  const release = (outcome: Outcome): void => {
    signal?.removeEventListener('abort', end);
    held?.release(outcome);
  };
  return {
    begin(permit) {
      held = permit;
      if (signal?.aborted === true) release('failure');
      return signal?.aborted !== true;
    },
    hold() {
      const { res } = c;
      const outcome = res.status >= 500 ? 'failure' : 'success';
      if (res.body === null) release(outcome);
      else c.res = new Response(followed(res.body, outcome, release), res);
    },
  };
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

import type { Intake, IntakeSnapshot } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/hono';
import type { Handler, Hono as HonoLatest } from 'hono';

/** An app under test. */
export interface Served {
  readonly post: (init?: RequestInit, ...rest: unknown[]) => Promise<Response>;
  readonly snapshot: () => IntakeSnapshot;
  readonly clock: ManualClock;
  readonly intake: Intake;
}

/** An app of this Hono version with the middleware, without a server. */
export function serve(
  Hono: typeof HonoLatest,
  handler: Handler,
  options: WebhookBackpressureOptions = {},
): Served {
  const clock = manualClock();
  const own = options.intake === undefined ? { concurrency: 1, clock } : {};
  const middleware = webhookBackpressure({ ...own, ...options });
  const app = new Hono();
  app.onError((error, c) => c.text(error.message, 500));
  app.use('*', middleware);
  app.post('/', handler);
  const post = (init: RequestInit = {}, ...rest: unknown[]): Promise<Response> =>
    Promise.resolve(
      app.fetch(new Request('http://x/', { method: 'POST', ...init }), ...(rest as [object, never])),
    );
  const snapshot = (): IntakeSnapshot => middleware.intake.snapshot();
  return { post, snapshot, clock, intake: middleware.intake };
}

/** A handler with a streamed response, and the stream that the test writes to. */
export function streamed(): { handler: Handler; out: WritableStreamDefaultWriter<Uint8Array> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  return { handler: () => new Response(readable), out: writable.getWriter() };
}

/** Waits for one turn of the event loop. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

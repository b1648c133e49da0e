import type { Intake, IntakeSnapshot } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/hono';
import { withBackpressure, type WithBackpressureOptions } from '@webhook-backpressure/web';
import { Hono as HonoLatest, type Handler } from 'hono';
import { Hono as Hono40 } from 'hono40';

/** An app under test. */
export interface Served {
  readonly post: (init?: RequestInit, ...rest: unknown[]) => Promise<Response>;
  readonly snapshot: () => IntakeSnapshot;
  readonly clock: ManualClock;
  readonly intake: Intake;
}

/** A handler that needs no request. */
export type Respond = () => Response | Promise<Response>;

/** Options that do not depend on the framework. */
type CommonOptions = Pick<WithBackpressureOptions, 'maxWaitMs' | 'standardHeaders'> & {
  skip?: () => boolean;
};

/** An app of this Hono version with the middleware, without a server. */
export function serveHono(
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
  app.all('/', handler);
  const fetch = async (request: Request, ...rest: unknown[]): Promise<Response> =>
    app.fetch(request, ...(rest as [object, never]));
  return served(fetch, middleware.intake, clock);
}

/** A wrapped handler, called with the arguments of a platform. */
export function serveWeb(
  handler: (...args: [Request, ...unknown[]]) => Response | Promise<Response>,
  options: WithBackpressureOptions<[Request, ...unknown[]]> = {},
): Served {
  const clock = manualClock();
  const guarded = withBackpressure(handler, { concurrency: 1, clock, ...options });
  return served(guarded, guarded.intake, clock);
}

function served(
  fetch: (request: Request, ...rest: unknown[]) => Promise<Response>,
  intake: Intake,
  clock: ManualClock,
): Served {
  const post = (init: RequestInit = {}, ...rest: unknown[]): Promise<Response> =>
    fetch(new Request('http://x/', { method: 'POST', ...init }), ...rest);
  return { post, snapshot: () => intake.snapshot(), clock, intake };
}

/** Every adapter that follows web-standard requests and responses. */
export const onWebStandards: readonly {
  readonly name: string;
  readonly serve: (handler: Respond, options?: CommonOptions) => Served;
}[] = [
  { name: 'Hono 4.0', serve: (handler, options) => serveHono(Hono40, handler, options) },
  { name: 'Hono 4', serve: (handler, options) => serveHono(HonoLatest, handler, options) },
  { name: 'packages/web', serve: serveWeb },
];

/** A handler with a streamed response, and the stream that the test writes to. */
export function streamed(): { handler: Respond; out: WritableStreamDefaultWriter<Uint8Array> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  return { handler: () => new Response(readable), out: writable.getWriter() };
}

/** Waits for one turn of the event loop. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// The receiver of app.js without a framework, as the handler of any web-standard host. Each name in `x-app` has its own
// intake, so that tests do not interfere.
import { backpressureOf, withBackpressure } from '@webhook-backpressure/web';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import { holding, streamed } from './holding.js';
import { inboxOptions } from './inbox-options.js';

/**
 * The first argument of the host's handlers.
 *
 * @typedef {import('@webhook-backpressure/web').RequestSource} Source
 */

/** @type {Map<string, (source: Source, ...rest: unknown[]) => Response | Promise<Response>>} */
const apps = new Map();

/** @param {Source} source */
function requestOf(source) {
  if (source instanceof Request) return source;
  return 'request' in source ? source.request : /** @type {{ req: Request }} */ (source).req;
}

/** @param {Source} source */
function pathOf(source) {
  return new URL(requestOf(source).url).pathname.replace(/^\/webhooks/, '');
}

/** @param {string} name */
function create(name) {
  const webhooks = webhookInbox(inboxOptions());
  const { hold, release } = holding();
  const guarded = withBackpressure(
    /** @type {(source: Source, ...rest: unknown[]) => Promise<Response>} */
    async (source) => {
      switch (pathOf(source)) {
        case '/info':
          return Response.json(backpressureOf(source));
        case '/hold':
          await hold();
          break;
        case '/work': {
          // Read before: on Elysia's adapter for Node.js, a body can't be read after its sender has disconnected.
          const body = await requestOf(source).text();
          await hold();
          return new Response(body);
        }
        case '/stream':
          return streamed(hold);
        case '/unavailable':
          return new Response('no', { status: 503 });
        case '/throw':
          throw new Error('handler failed');
      }
      return new Response(await requestOf(source).text());
    },
    {
      concurrency: 1,
      capacity: 1,
      random: () => 0.5,
      standardHeaders: name === 'headers' ? 'draft-8' : false,
      maxWaitMs: name === 'impatient' ? 200 : 60_000,
      keyGenerator: (request) => request.headers.get('x-shop') ?? 'default',
    },
  );
  /** @type {(source: Source, ...rest: unknown[]) => Promise<Response>} */
  const passed = guarded;
  /** @type {(source: Source, ...rest: unknown[]) => Promise<Response>} */
  return async (source, ...rest) => {
    const isPost = requestOf(source).method === 'POST';
    switch (pathOf(source)) {
      case '/inbox':
        return isPost ? webhooks(source, ...rest) : Response.json(webhooks.inbox.snapshot());
      case '/inbox/close':
        return Response.json(await webhooks.inbox.close());
      case '/snapshot':
        return Response.json(guarded.intake.snapshot());
      case '/release':
        release();
        return new Response(null, { status: 204 });
      case '/close':
        void guarded.intake.close();
        return new Response(null, { status: 204 });
    }
    // The rest are the other arguments of the host, where the platform may have its `waitUntil`.
    return passed(source, ...rest);
  };
}

/**
 * @param {Source} source
 * @param {unknown[]} rest
 */
export function handle(source, ...rest) {
  const name = requestOf(source).headers.get('x-app') ?? '';
  const app = apps.get(name) ?? create(name);
  apps.set(name, app);
  return app(source, ...rest);
}

// A receiver that any runtime can serve. Each name in `x-app` has its own intake, so that tests do not interfere.
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/hono';
import { webhookInbox } from '@webhook-backpressure/hono/inbox';
import { Hono } from 'hono';
import { holding, streamed } from './holding.js';
import { inboxOptions } from './inbox-options.js';

/** @type {Map<string, Hono>} */
const apps = new Map();

/** @param {string} name */
function create(name) {
  const app = new Hono();
  const webhooks = webhookInbox(inboxOptions());
  app.post('/inbox', webhooks);
  app.get('/inbox', (c) => c.json(webhooks.inbox.snapshot()));
  app.get('/inbox/close', async (c) => c.json(await webhooks.inbox.close()));

  const { hold, release } = holding();
  const backpressure = webhookBackpressure({
    concurrency: 1,
    capacity: 1,
    random: () => 0.5,
    standardHeaders: name === 'headers' ? 'draft-8' : false,
    maxWaitMs: name === 'impatient' ? 200 : 60_000,
    keyGenerator: (c) => c.req.header('x-shop') ?? 'default',
  });
  /** @type {import('@webhook-backpressure/dashboard').Dashboard | undefined} */
  let page;
  app.all('/dashboard/*', (c) => {
    page ??= dashboard({ intakes: { intake: backpressure.intake }, authorize: false, allowUpdate: true });
    return page.fetch(c.req.raw);
  });
  app.use(backpressure);
  app.onError((error, c) => c.text(error.message, 500));

  app.get('/snapshot', (c) => c.json(backpressure.intake.snapshot()));
  app.get('/release', (c) => {
    release();
    return c.body(null, 204);
  });
  app.get('/close', (c) => {
    void backpressure.intake.close();
    return c.body(null, 204);
  });

  app.post('/echo', async (c) => c.text(await c.req.text()));
  app.post('/info', (c) => c.json(c.get('backpressure')));
  app.post('/hold', async (c) => {
    await hold();
    return c.text(await c.req.text());
  });
  app.post('/work', async (c) => {
    const body = await c.req.text();
    await hold();
    return c.text(body);
  });
  app.post('/stream', () => streamed(hold));
  app.post('/unavailable', (c) => c.text('no', 503));
  app.post('/throw', () => {
    throw new Error('handler failed');
  });
  return app;
}

export default {
  /**
   * @param {Request} request
   * @param {unknown[]} rest on Workers the environment and the execution context
   */
  fetch(request, ...rest) {
    const name = request.headers.get('x-app') ?? '';
    const app = apps.get(name) ?? create(name);
    apps.set(name, app);
    return app.fetch(request, .../** @type {[object, never]} */ (rest));
  },
};

// A receiver that any runtime can serve. Each name in `x-app` has its own intake, so that tests do not interfere.
import { memoryStore } from '@webhook-backpressure/core';
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure, webhookInbox } from '@webhook-backpressure/hono';
import { Hono } from 'hono';

const STEP_MS = 5;

/** @type {Map<string, Hono>} */
const apps = new Map();

/**
 * The first attempt fails for every tenth delivery: were it all of them, the inbox would assume an outage and pause.
 *
 * @returns {Omit<import('@webhook-backpressure/core').InboxOptions<never>, 'context'>}
 */
export function inboxOptions() {
  return {
    store: memoryStore(),
    maxBodyBytes: 100_000,
    retry: { firstDelayMs: 20 },
    verify: ({ headers, text }) => {
      if (headers['x-signature'] === 'unknown') throw Object.assign(new Error('no keys'), { status: 503 });
      return headers['x-signature'] === String(text().length);
    },
    process: async ({ json }, { attempt, signal }) => {
      const { n = 0 } = /** @type {{ n?: number }} */ (json());
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if ((attempt === 1 && n % 10 === 1) || signal.aborted) throw new Error('once more');
    },
  };
}

/** @param {string} name */
function create(name) {
  const app = new Hono();
  const webhooks = webhookInbox(inboxOptions());
  app.post('/inbox', webhooks);
  app.get('/inbox', (c) => c.json(webhooks.inbox.snapshot()));
  app.get('/inbox/close', async (c) => c.json(await webhooks.inbox.close()));

  /** How many held ones may go on. */
  let released = 0;
  let asked = 0;
  /** Until GET /release. In steps: some runtimes end a request that only another one can wake. */
  const hold = async () => {
    asked += 1;
    const turn = asked;
    while (released < turn) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  };

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
    released += 1;
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
  app.post('/stream', () => {
    let chunks = 0;
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        async pull(controller) {
          chunks += 1;
          if (chunks > 1) await hold();
          if (chunks < 4) controller.enqueue(encoder.encode(`${String(chunks)} `));
          else controller.close();
        },
      }),
    );
  });
  app.post('/unavailable', (c) => c.text('no', 503));
  app.post('/throw', () => {
    throw new Error('handler failed');
  });
  return app;
}

export default {
  /**
   * @param {Request} request
   * @param {unknown} [env]
   * @param {import('hono').ExecutionContext} [context] of Workers
   */
  fetch(request, env, context) {
    const name = request.headers.get('x-app') ?? '';
    const app = apps.get(name) ?? create(name);
    apps.set(name, app);
    return app.fetch(request, env, context);
  },
};

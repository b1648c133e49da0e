/** What differs in a server between the frameworks. */
export interface Framework {
  /** npm packages and their ranges. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly imports: readonly string[];
  /** The entry of its package that exports `closeOnSignals`. */
  readonly closing: string;
  /** Mounts the inbox, the probe, the metrics and the page, which is undefined without a password, and exports `server`. */
  readonly mount: string;
}

const LISTEN = `(Number(PORT), () => {
  console.log(\`http://localhost:\${server.address().port}/webhooks\`);
});`;

const ROWS: Readonly<Record<string, Framework>> = {
  express: {
    dependencies: { express: '^5.3.0' },
    imports: [`import express from 'express';`],
    closing: 'express',
    mount: `const app = express();
app.post('/webhooks', webhooks); // before any body parser
app.get('/ready', readiness(webhooks.inbox));
app.get('/metrics', async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
});
if (page !== undefined) app.use('/backpressure', page.node);

export const server = app.listen${LISTEN}`,
  },
  fastify: {
    dependencies: { fastify: '^5.12.8' },
    imports: [`import Fastify from 'fastify';`],
    closing: 'fastify',
    mount: `const app = Fastify();
app.post('/webhooks', webhooks);
app.get('/ready', readiness(webhooks.inbox));
app.get('/metrics', async (_request, reply) =>
  reply.type(register.contentType).send(await register.metrics()),
);
if (page !== undefined) {
  app.all('/backpressure*', {
    // Before the body is read.
    onRequest: (request, reply) => {
      reply.hijack();
      page.node(request.raw, reply.raw);
    },
    handler: () => undefined,
  });
}

await app.listen({ port: Number(PORT) });
export const { server } = app;
console.log(\`http://localhost:\${server.address().port}/webhooks\`);`,
  },
  koa: {
    dependencies: { koa: '^3.2.1' },
    imports: [`import Koa from 'koa';`],
    closing: 'koa',
    mount: `const app = new Koa();
const ready = readiness(webhooks.inbox);
app.use(async (ctx, next) => {
  if (ctx.path === '/webhooks') return webhooks(ctx, next); // before any body parser
  if (ctx.path === '/ready') return ready(ctx, next);
  if (ctx.path === '/metrics') {
    ctx.type = register.contentType;
    ctx.body = await register.metrics();
  } else if (page !== undefined && /^\\/backpressure(?:\\/|$)/.test(ctx.path)) {
    ctx.respond = false;
    page.node(ctx.req, ctx.res);
  } else {
    await next();
  }
});

export const server = app.listen${LISTEN}`,
  },
  hono: {
    dependencies: { hono: '^4.13.19', '@hono/node-server': '^2.1.8' },
    imports: [`import { serve } from '@hono/node-server';`, `import { Hono } from 'hono';`],
    closing: 'hono/node',
    mount: `const app = new Hono();
app.post('/webhooks', webhooks);
app.get('/ready', readiness(webhooks.inbox));
app.get('/metrics', async (c) =>
  c.body(await register.metrics(), 200, { 'Content-Type': register.contentType }),
);
if (page !== undefined) {
  app.all('/backpressure', (c) => page.fetch(c.req.raw));
  app.all('/backpressure/*', (c) => page.fetch(c.req.raw));
}

export const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(\`http://localhost:\${port}/webhooks\`);
});`,
  },
  node: {
    dependencies: {},
    imports: [`import { createServer } from 'node:http';`],
    closing: 'node',
    mount: `const ready = readiness(webhooks.inbox);

export const server = createServer(async (req, res) => {
  const [path] = req.url.split('?');
  if (path === '/webhooks') webhooks(req, res);
  else if (path === '/ready') ready(req, res);
  else if (path === '/metrics') {
    res.setHeader('Content-Type', register.contentType);
    res.end(await register.metrics());
  } else if (page !== undefined && /^\\/backpressure(?:\\/|$)/.test(path)) page.node(req, res);
  else res.writeHead(404).end();
}).listen${LISTEN}`,
  },
};

export const FRAMEWORKS: ReadonlyMap<string, Framework> = new Map(Object.entries(ROWS));

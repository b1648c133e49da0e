import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import express5, { type Express } from 'express';
import express4 from 'express4';
import { Hono as HonoLatest } from 'hono';
import { Hono as Hono40 } from 'hono40';
import Koa3 from 'koa';
import Koa2 from 'koa2';

/** An app that uses the features of its framework, with or without our middleware. */
export type App = (isGuarded: boolean) => RequestListener;

/** Changes a response as it is sent, as compression does. */
function wrapEnd(res: { end: (chunk?: string) => unknown }): void {
  const end = res.end.bind(res);
  res.end = (chunk) => end(chunk === undefined ? chunk : `${chunk}, wrapped`);
}

const node: App = (isGuarded) => {
  const listener: RequestListener = async (req, res) => {
    switch (req.url) {
      case '/json':
        res.end(JSON.stringify(await text(req)));
        break;
      case '/length':
        res.end(String((await text(req)).length));
        break;
      case '/stream':
        Readable.from(['one', 'two']).pipe(res);
        break;
      case '/trailers':
        res.writeHead(200, { Trailer: 'X-Sum' });
        res.write('body');
        res.addTrailers({ 'X-Sum': '7' });
        res.end();
        break;
      case '/wrapped':
        wrapEnd(res);
        res.end('body');
        break;
      default:
        res.statusCode = 404;
        res.end();
    }
  };
  return isGuarded ? withBackpressure(listener) : listener;
};

function expressApp(create: typeof express5): App {
  return (isGuarded) => {
    const app: Express = create();
    // Outside production, its error responses contain the stack.
    app.set('env', 'production');
    if (isGuarded) app.use(forExpress());
    app.use('/wrapped', (_req, res, next) => {
      wrapEnd(res);
      next();
    });
    app.post('/json', express5.json(), (req, res) => void res.json(req.body));
    app.post('/length', express5.text({ type: () => true, limit: '1mb' }), (req, res) => {
      res.json((req.body as string).length);
    });
    app.post('/ignore', (_req, res) => void res.send('ignored'));
    app.use('/stream', (_req, res) => void Readable.from(['one', 'two']).pipe(res));
    app.post('/trailers', (_req, res) => {
      res.writeHead(200, { Trailer: 'X-Sum' });
      res.write('body');
      res.addTrailers({ 'X-Sum': '7' });
      res.end();
    });
    app.post('/empty', (_req, res) => void res.sendStatus(204));
    app.post('/file', (_req, res) => {
      res.sendFile('lowest-versions.d.ts', { root: `${import.meta.dirname}/../conformance` });
    });
    app.post('/wrapped', (_req, res) => void res.end('body'));
    app.post('/throw', () => {
      throw new Error('thrown');
    });
    app.post('/reject', (_req, _res, next) => {
      Promise.reject(new Error('rejected')).catch(next);
    });
    return app;
  };
}

function koaApp(Koa: typeof Koa3): App {
  return (isGuarded) => {
    const app = new Koa();
    app.silent = true;
    if (isGuarded) app.use(forKoa());
    app.use(async (ctx) => {
      switch (ctx.path) {
        case '/json':
          ctx.body = { given: JSON.parse((await text(ctx.req)) || 'null') as unknown };
          break;
        case '/length':
          ctx.body = String((await text(ctx.req)).length);
          break;
        case '/ignore':
          ctx.body = 'ignored';
          break;
        case '/stream':
          ctx.body = Readable.from(['one', 'two']).pipe(new PassThrough());
          break;
        case '/trailers':
          ctx.respond = false;
          ctx.res.writeHead(200, { Trailer: 'X-Sum' });
          ctx.res.write('body');
          ctx.res.addTrailers({ 'X-Sum': '7' });
          ctx.res.end();
          break;
        case '/empty':
          ctx.status = 204;
          break;
        case '/wrapped':
          wrapEnd(ctx.res);
          ctx.body = 'body';
          break;
        case '/throw':
        case '/reject':
          ctx.throw(409, 'thrown', { expose: true });
      }
    });
    return app.callback();
  };
}

function honoApp(Hono: typeof HonoLatest): App {
  return (isGuarded) => {
    const app = new Hono();
    if (isGuarded) app.use('*', forHono());
    app.use('*', async (c, next) => {
      await next();
      c.header('X-Later', 'yes');
    });
    app.post('/json', async (c) => c.json(await c.req.json<object>()));
    app.post('/length', async (c) => c.text(String((await c.req.text()).length)));
    app.post('/ignore', (c) => c.html('<p>ignored</p>', 201, { 'X-Own': 'yes' }));
    app.all(
      '/stream',
      () =>
        new Response(
          new ReadableStream({
            start(out) {
              for (const word of ['one', 'two']) out.enqueue(Buffer.from(word));
              out.close();
            },
          }),
        ),
    );
    app.post('/empty', (c) => c.body(null, 204));
    app.post('/file', (c) => {
      c.header('Set-Cookie', 'a=1', { append: true });
      c.header('Set-Cookie', 'b=2', { append: true });
      return c.redirect('/elsewhere');
    });
    app.post('/throw', () => {
      throw new Error('thrown');
    });
    app.post('/reject', () => Promise.reject(new Error('rejected')));
    return getRequestListener(app.fetch);
  };
}

export const behaviors: { name: string; build: App }[] = [
  { name: 'node:http', build: node },
  { name: 'Express 4.18', build: expressApp(express4) },
  { name: 'Express 5', build: expressApp(express5) },
  { name: 'Koa 2.13', build: koaApp(Koa2) },
  { name: 'Koa 3', build: koaApp(Koa3) },
  { name: 'Hono 4.0', build: honoApp(Hono40) },
  { name: 'Hono 4', build: honoApp(HonoLatest) },
  {
    name: 'Express 5 behind node:http',
    build: (isGuarded) => {
      const app = expressApp(express5)(false);
      return isGuarded ? withBackpressure(app) : app;
    },
  },
];

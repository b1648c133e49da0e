import type { RequestListener } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Hono as HonoLatest, MiddlewareHandler } from 'hono';
import { bytes, chunks } from './contents.ts';

export function honoApp(Hono: typeof HonoLatest, middleware: MiddlewareHandler | undefined): RequestListener {
  const app = new Hono();
  if (middleware !== undefined) app.use('*', middleware);
  app.use('*', async (c, next) => {
    c.header('X-Before', '1');
    await next();
    c.res.headers.set('X-After', String(c.res.status));
  });
  app.onError((error, c) => {
    if (c.req.url.endsWith('?twice')) throw new Error('again');
    return c.json({ error: error.message }, (error as { status?: 402 }).status ?? 500);
  });
  app.get('/text', (c) => {
    if (c.req.header('If-None-Match') === '*') return c.body(null, 304);
    return c.text('héllo');
  });
  app.get('/users/:id', (c) => c.json([c.req.param('id'), c.req.query(), c.req.queries('x')]));
  const part = new Hono();
  part.get('/inner/:name', (c) => c.json([c.req.path, c.req.url.slice(-10), c.req.param('name')]));
  app.route('/part', part);
  app.use('/chain', async (c, next) => {
    await next();
    c.header('X-Chain', c.res.headers.get('Content-Type') ?? '');
  });
  app.get('/chain', (c) => c.html('<p>a</p>'));
  app.get('/negotiate', (c) => {
    const accepted = c.req.header('Accept');
    if (accepted === 'application/json') return c.json({ a: 1 });
    return accepted === 'text/html' ? c.html('<p>a</p>') : c.notFound();
  });
  app.get('/redirect', (c) => c.redirect('/text?a=1', 301));
  app.get('/cookies', (c) => {
    c.header('Set-Cookie', 'a=1; HttpOnly', { append: true });
    c.header('Set-Cookie', 'b=2', { append: true });
    return c.text(c.req.header('Cookie') ?? '');
  });
  app.get('/empty', (c) => c.body(null, 204));
  app.get('/teapot', (c) => c.text('', 418));
  app.get('/bytes', (c) => c.body(bytes.slice().buffer, 200, { 'Content-Type': 'image/png' }));
  app.get('/stream', () => {
    const parts = chunks();
    const stream = new ReadableStream({
      async pull(controller) {
        const { value } = await parts.next();
        if (value === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(value));
      },
    });
    return new Response(stream, { headers: { 'Content-Type': 'text/plain' } });
  });
  app.get('/later', async (c) => {
    await setImmediate();
    return c.json({ later: true });
  });
  app.get('/throws', () => {
    throw new Error('thrown');
  });
  app.get('/rejects', async () => {
    await setImmediate();
    throw new Error('rejected');
  });
  app.get('/refuses', () => {
    throw Object.assign(new Error('refused'), { status: 402 });
  });
  app.post('/json', async (c) => c.json(await c.req.json<object>()));
  app.post('/form', async (c) => c.json(await c.req.parseBody({ all: true })));
  app.on(['POST', 'PUT'], '/raw', async (c) => c.body(await c.req.arrayBuffer()));
  app.post('/unread', (c) => c.text('unread'));
  app.get('/headers', (c) => {
    c.header('X-A', '1');
    c.res = new Response('replaced', { status: 203, headers: { 'X-B': '2' } });
    return c.res;
  });
  const listener = getRequestListener(app.fetch);
  return (req, res) => void listener(req, res);
}

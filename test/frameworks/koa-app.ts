import { createReadStream } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type Koa3 from 'koa';
import type { Context, Middleware, Next } from 'koa';
import { bytes, chunks } from './contents.ts';

const file = join(import.meta.dirname, 'contents.ts');

/** By path; Koa has no routes. */
const handlers: Record<string, (ctx: Context, next: Next) => unknown> = {
  '/text': (ctx) => {
    ctx.body = 'héllo';
    ctx.etag = 'a';
    if (ctx.fresh) ctx.status = 304;
  },
  '/chain': async (ctx, next) => {
    ctx.state['a'] = 1;
    await next();
    ctx.body = ctx.state['a'] as number;
  },
  '/negotiate': (ctx) => {
    const type = ctx.accepts('json', 'html');
    if (type === false) ctx.throw(406);
    ctx.body = type === 'json' ? { a: 1 } : '<p>a</p>';
  },
  '/redirect': (ctx) => {
    ctx.redirect('/text?a=ü');
    ctx.status = 301;
  },
  '/cookies': (ctx) => {
    ctx.cookies.set('a', '1', { httpOnly: true });
    ctx.body = ctx.cookies.get('seen');
  },
  '/empty': (ctx) => {
    ctx.body = null;
  },
  '/teapot': (ctx) => {
    ctx.status = 418;
  },
  '/bytes': (ctx) => {
    ctx.type = 'png';
    ctx.body = Buffer.from(bytes);
  },
  '/stream': (ctx) => {
    ctx.body = Readable.from(chunks(), { objectMode: false });
  },
  '/broken-stream': (ctx) => {
    ctx.respond = false;
    ctx.res.write('begun', () => {
      ctx.res.destroy();
    });
  },
  '/file': (ctx) => {
    ctx.type = 'text';
    ctx.attachment('a ü.txt');
    ctx.body = createReadStream(file);
  },
  '/missing-file': (ctx) => {
    ctx.body = createReadStream(`${file}.none`);
  },
  '/later': async (ctx) => {
    await setImmediate();
    ctx.body = { later: true };
  },
  '/throws': () => {
    throw new Error('thrown');
  },
  '/rejects': async () => {
    await setImmediate();
    throw new Error('rejected');
  },
  '/refuses': (ctx) => ctx.throw(402, 'refused', { headers: { 'X-Why': 'money' } }),
  '/json': async (ctx) => {
    ctx.body = JSON.parse(await text(ctx.req)) as object;
  },
  '/form': async (ctx) => {
    ctx.body = [...new URLSearchParams(await text(ctx.req))];
  },
  '/raw': async (ctx) => {
    ctx.body = await text(ctx.req);
  },
  '/unread': (ctx) => {
    ctx.body = 'unread';
  },
  '/headers': (ctx) => {
    ctx.append('Set-Cookie', ['a=1', 'b=2']);
    ctx.vary('Accept');
    ctx.body = '';
  },
  '/direct': (ctx) => {
    ctx.respond = false;
    ctx.res.writeHead(201, 'Made', { 'X-Direct': '1' }).end('direct');
  },
};

export function koaApp(Koa: typeof Koa3, middleware: Middleware | undefined): RequestListener {
  const app = new Koa();
  // The default listener prints every error.
  app.on('error', () => undefined);
  if (middleware !== undefined) app.use(middleware);
  app.use(async (ctx, next) => {
    ctx.set('X-Before', '1');
    await next();
    ctx.set('X-After', String(ctx.status));
  });
  app.use((ctx, next) => handlers[ctx.path]?.(ctx, next) ?? next());
  const callback = app.callback();
  return (req, res) => void callback(req, res);
}

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type express5 from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { bytes, chunks } from './contents.ts';

const file = join(import.meta.dirname, 'contents.ts');

export function expressApp(create: typeof express5, middleware: RequestHandler | undefined): RequestListener {
  const app = create();
  if (middleware !== undefined) app.use(middleware);
  app.use((_req, res, next) => {
    res.set('X-Before', '1');
    next();
  });
  app.get('/text', (_req, res) => void res.send('héllo'));
  app.get('/users/:id', (req, res) => void res.json([req.params.id, req.query]));
  const part = create.Router();
  part.get('/inner/:name', (req, res) => void res.json([req.baseUrl, req.url, req.originalUrl, req.params]));
  app.use('/part', part);
  app.get('/chain', (_req, _res, next) => {
    next('route');
  });
  app.get(
    '/chain',
    (_req, res, next) => {
      res.locals['a'] = 1;
      next();
    },
    (_req, res) => void res.json(res.locals),
  );
  app.get('/negotiate', (_req, res) => {
    res.format({ json: () => void res.json({ a: 1 }), html: () => void res.send('<p>a</p>') });
  });
  app.get('/redirect', (_req, res) => {
    res.redirect(301, '/text?a=ü');
  });
  app.get('/cookies', (req, res) => {
    res.cookie('a', { b: 1 }, { httpOnly: true }).clearCookie('c').send(req.headers.cookie);
  });
  app.get('/empty', (_req, res) => void res.status(204).end());
  app.get('/teapot', (_req, res) => void res.sendStatus(418));
  app.get('/bytes', (_req, res) => void res.type('png').send(Buffer.from(bytes)));
  app.get('/stream', (_req, res) => void Readable.from(chunks()).pipe(res));
  app.get('/broken-stream', (_req, res) => {
    res.write('begun', () => {
      res.destroy();
    });
  });
  app.get('/file', (_req, res) => {
    res.sendFile(file, { lastModified: false });
  });
  app.get('/missing-file', (_req, res) => {
    res.sendFile(`${file}.none`);
  });
  app.get('/later', async (_req, res) => {
    await setImmediate();
    res.json({ later: true });
  });
  app.get('/throws', () => {
    throw new Error('thrown');
  });
  // Express 4 ignores what a handler returns.
  app.get('/rejects', (_req, _res, next) => {
    void setImmediate(new Error('rejected')).then(next);
  });
  app.get('/refuses', () => {
    throw Object.assign(new Error('refused'), { status: 402, headers: { 'X-Why': 'money' } });
  });
  app.post('/json', create.json({ limit: '100kb' }), (req, res) => void res.json(req.body));
  app.post('/form', create.urlencoded({ extended: false }), (req, res) => void res.json(req.body));
  app.all('/raw', create.raw({ type: () => true, limit: '1mb' }), (req, res) => void res.send(req.body));
  app.post('/unread', (_req, res) => void res.send('unread'));
  app.get('/headers', (_req, res) => {
    res.append('Set-Cookie', ['a=1', 'b=2']).vary('Accept').links({ next: '/x' }).send('');
  });
  app.get('/direct', (_req, res) => {
    res.writeHead(201, 'Made', { 'X-Direct': '1' }).end('direct');
  });
  const onError: ErrorRequestHandler = (error: Error & { status?: number }, req, res, next) => {
    if (req.originalUrl.endsWith('?twice')) throw new Error('again');
    if (res.headersSent) next(error);
    else res.status(error.status ?? 500).json({ error: error.message });
  };
  app.use(onError);
  return app;
}

import { createReadStream } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type fastify5 from 'fastify';
import type { FastifyInstance, preHandlerHookHandler } from 'fastify';
import { bytes, chunks } from './contents.ts';

const file = join(import.meta.dirname, 'contents.ts');

/** @param mount - registers the plugin before the routes. */
export function fastifyApp(
  create: typeof fastify5,
  mount: (app: FastifyInstance) => unknown,
): RequestListener {
  const handlers: RequestListener[] = [];
  const app = create({
    bodyLimit: 1_000_000,
    exposeHeadRoutes: true,
    serverFactory(handler) {
      handlers.push(handler);
      return createServer(handler);
    },
  });
  mount(app);
  app.register((scope, _options, done) => {
    addRoutes(scope);
    done();
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (request.url.endsWith('?twice')) throw new Error('again');
    return reply.code(error.statusCode ?? 500).send({ error: error.message });
  });
  const ready = app.ready();
  return (req, res) => {
    void ready.then(() => {
      for (const handler of handlers) handler(req, res);
    });
  };
}

const before: preHandlerHookHandler = (_request, reply, done) => {
  void reply.header('X-Chain', '1');
  done();
};

function addRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.header('X-Before', '1');
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    void reply.header('X-After', String(reply.statusCode));
    done(null, payload);
  });
  app.get('/text', (request, reply) =>
    request.headers['if-none-match'] === '*' ? reply.code(304).send() : 'héllo',
  );
  app.get<{ Params: { id: string } }>('/users/:id', ({ params, query }) => [params.id, query]);
  app.register(
    (part, _options, done) => {
      part.get('/inner/:name', ({ url, params }, reply) => reply.send([url, params]));
      done();
    },
    { prefix: '/part' },
  );
  app.get('/chain', { preHandler: before }, () => ({
    a: 1,
  }));
  app.get('/negotiate', (request, reply) => {
    if (request.headers.accept === 'application/json') return { a: 1 };
    if (request.headers.accept === 'text/html') return reply.type('text/html').send('<p>a</p>');
    reply.callNotFound();
    return reply;
  });
  app.get('/redirect', (_request, reply) => reply.code(301).header('Location', '/text?a=1').send());
  app.get('/cookies', (request, reply) => {
    void reply.header('Set-Cookie', ['a=1; HttpOnly', 'b=2']);
    return reply.send(request.headers.cookie);
  });
  app.get('/empty', (_request, reply) => reply.code(204).send());
  app.get('/teapot', (_request, reply) => {
    void reply.code(418).send();
  });
  app.get('/bytes', (_request, reply) => reply.type('image/png').send(Buffer.from(bytes)));
  app.get('/stream', (_request, reply) => reply.type('text/plain').send(Readable.from(chunks())));
  app.get('/broken-stream', (_request, reply) => {
    reply.hijack();
    reply.raw.write('begun', () => {
      reply.raw.destroy();
    });
  });
  app.get('/file', (_request, reply) => reply.type('text/plain').send(createReadStream(file)));
  app.get('/missing-file', (_request, reply) => reply.send(createReadStream(`${file}.none`)));
  app.get('/later', async () => {
    await setImmediate();
    return { later: true };
  });
  app.get('/throws', () => {
    throw new Error('thrown');
  });
  app.get('/rejects', async () => {
    await setImmediate();
    throw new Error('rejected');
  });
  app.get('/refuses', (_request, reply) => {
    void reply.header('X-Why', 'money');
    throw Object.assign(new Error('refused'), { statusCode: 402 });
  });
  app.post('/json', { bodyLimit: 100_000 }, ({ body }) => body);
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, [...new URLSearchParams(body as string)]);
    },
  );
  app.post('/form', ({ body }) => body);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.route({ method: ['POST', 'PUT'], url: '/raw', handler: ({ body }, reply) => reply.send(body) });
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => {
      parsed(null);
    });
    scope.post('/unread', () => 'unread');
    done();
  });
  app.get('/headers', async (_request, reply) => {
    await reply.code(203).header('X-A', '1').headers({ 'X-B': '2' }).send('');
  });
  app.get('/direct', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(201, 'Made', { 'X-Direct': '1' }).end('direct');
  });
}

import { createServer, type RequestListener } from 'node:http';
import type fastify5 from 'fastify';
import type { FastifyInstance } from 'fastify';

/** An app whose listener can be called by any server, also before it is ready, and which leaves bodies unread. */
export function fastifyApp(create: typeof fastify5): { app: FastifyInstance; listener: RequestListener } {
  const handlers: RequestListener[] = [];
  const app = create({
    serverFactory(handler) {
      handlers.push(handler);
      return createServer(handler);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload);
  });
  let isReady = false;
  const listener: RequestListener = (req, res) => {
    if (isReady) {
      for (const handler of handlers) handler(req, res);
      return;
    }
    void app.ready().then(() => {
      isReady = true;
      listener(req, res);
    });
  };
  return { app, listener };
}

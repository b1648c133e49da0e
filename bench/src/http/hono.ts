import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure } from '@webhook-backpressure/hono';
import { Hono, type Handler, type MiddlewareHandler } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import pLimit from 'p-limit';
import { AMPLE, AMPLE_INTAKE } from './ample.ts';
import { AMPLE_RATE, keepFull, MINUTE_MS, PROBLEM, REFUSING } from './servers.ts';

const handle: Handler = (c) => c.text('ok');

function app(...handlers: MiddlewareHandler[]): RequestListener {
  const hono = new Hono();
  for (const handler of handlers) hono.use('/webhooks', handler);
  hono.post('/webhooks', handle);
  const listener = getRequestListener(hono.fetch);
  return (req, res) => void listener(req, res);
}

export const pass = {
  without: (): RequestListener => app(),
  ours: (): RequestListener => app(webhookBackpressure(AMPLE_INTAKE)),
  'empty middleware': (): RequestListener => app((_c, next) => next()),
  'p-limit': (): RequestListener => {
    const limit = pLimit(AMPLE);
    return app((_c, next) => limit(next));
  },
  'hono-rate-limiter': (): RequestListener =>
    app(
      rateLimiter({
        windowMs: MINUTE_MS,
        limit: AMPLE_RATE,
        standardHeaders: 'draft-6',
        keyGenerator: (c) => c.req.header('x-forwarded-for') ?? '',
      }),
    ),
};

export const refuse = {
  'by hand': (): RequestListener =>
    app((c) => {
      c.header('Retry-After', '10');
      return Promise.resolve(c.json(PROBLEM, 429));
    }),
  ours: (): RequestListener => app(keepFull(webhookBackpressure(REFUSING))),
};

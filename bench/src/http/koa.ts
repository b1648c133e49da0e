import type { RequestListener } from 'node:http';
import { webhookBackpressure } from '@webhook-backpressure/koa';
import Koa, { type Middleware } from 'koa';
import rateLimit from 'koa-ratelimit';
import pLimit from 'p-limit';
import { AMPLE, AMPLE_INTAKE } from './ample.ts';
import { AMPLE_RATE, keepFull, MINUTE_MS, PROBLEM, REFUSING } from './servers.ts';

const handle: Middleware = (ctx) => {
  ctx.body = 'ok';
};

function app(...middlewares: Middleware[]): RequestListener {
  const koa = new Koa();
  for (const middleware of middlewares) koa.use(middleware);
  const listener = koa.callback();
  return (req, res) => void listener(req, res);
}

export const pass = {
  without: (): RequestListener => app(handle),
  ours: (): RequestListener => app(webhookBackpressure(AMPLE_INTAKE), handle),
  'empty middleware': (): RequestListener => app((_ctx, next) => next(), handle),
  'p-limit': (): RequestListener => {
    const limit = pLimit(AMPLE);
    return app((_ctx, next) => limit(next), handle);
  },
  'koa-ratelimit': (): RequestListener =>
    app(
      // As its README has it, but for the two lists that a receiver may leave out, and that cost.
      rateLimit({
        driver: 'memory',
        db: new Map(),
        duration: MINUTE_MS,
        errorMessage: 'Sometimes You Just Have to Slow Down.',
        id: (ctx) => ctx.ip,
        headers: {
          remaining: 'Rate-Limit-Remaining',
          reset: 'Rate-Limit-Reset',
          total: 'Rate-Limit-Total',
        },
        max: AMPLE_RATE,
        disableHeader: false,
      }),
      handle,
    ),
};

export const refuse = {
  'by hand': (): RequestListener =>
    app((ctx) => {
      ctx.status = 429;
      ctx.set('Retry-After', '10');
      ctx.body = PROBLEM;
    }),
  ours: (): RequestListener => app(keepFull(webhookBackpressure(REFUSING)), handle),
};

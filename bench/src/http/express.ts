import type { RequestListener } from 'node:http';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express, { type RequestHandler } from 'express';
import expressQueue from 'express-queue';
import { rateLimit } from 'express-rate-limit';
import overloadProtection from 'overload-protection';
import pLimit from 'p-limit';
import { AMPLE, AMPLE_INTAKE } from './ample.ts';
import { observe } from './observed.ts';
import { AMPLE_RATE, keepFull, MINUTE_MS, PROBLEM, REFUSING } from './servers.ts';

const handle: RequestHandler = (_req, res) => {
  res.send('ok');
};

function app(...handlers: RequestHandler[]): RequestListener {
  const router = express();
  router.post('/webhooks', ...handlers);
  return router;
}

export const pass = {
  without: (): RequestListener => app(handle),
  ours: (): RequestListener => app(webhookBackpressure(AMPLE_INTAKE), handle),
  'empty middleware': (): RequestListener =>
    app((_req, _res, next) => {
      next();
    }, handle),
  'p-limit': (): RequestListener => {
    const limit = pLimit(AMPLE);
    // The worker is held until the response is over, as ours is.
    return app((req, res, next) => {
      limit(async () => {
        await handle(req, res, next);
        await new Promise((resolve) => res.once('close', resolve));
      }).catch(next);
    });
  },
  'express-queue': (): RequestListener => app(expressQueue({ activeLimit: AMPLE, queuedLimit: -1 }), handle),
  'express-rate-limit': (): RequestListener =>
    app(
      rateLimit({ windowMs: MINUTE_MS, limit: AMPLE_RATE, standardHeaders: 'draft-8', legacyHeaders: false }),
      handle,
    ),
  'overload-protection': (): RequestListener =>
    // It measures, and never refuses: the delay that it would refuse at is longer than the test.
    app(
      overloadProtection('express', { production: true, clientRetrySecs: 1, maxEventLoopDelay: MINUTE_MS }),
      handle,
    ),
};

export const observed = {
  without: (): RequestListener => pass.ours(),
  ours: (): RequestListener => {
    const middleware = webhookBackpressure(AMPLE_INTAKE);
    void observe(middleware.intake);
    return app(middleware, handle);
  },
};

export const refuse = {
  'by hand': (): RequestListener =>
    app((_req, res) => {
      res.status(429).set('Retry-After', '10').json(PROBLEM);
    }),
  ours: (): RequestListener => app(keepFull(webhookBackpressure(REFUSING)), handle),
};

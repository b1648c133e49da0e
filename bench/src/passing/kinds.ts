import type { RequestListener } from 'node:http';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import Koa from 'koa';
import { AMPLE_INTAKE } from '../http/ample.ts';
import type { Kind } from './plan.ts';

/** A listener of each framework, whose handler does nothing but answer 200. */
export const frameworks: Readonly<Record<string, (kind: Kind) => RequestListener>> = {
  express(kind) {
    const app = express();
    app.disable('x-powered-by');
    if (kind === 'empty') {
      app.use((_req, _res, next) => {
        next();
      });
    }
    if (kind === 'ours') app.use(forExpress(AMPLE_INTAKE));
    app.post('/webhooks', (_req, res) => {
      res.status(200).end();
    });
    return app as RequestListener;
  },
  koa(kind) {
    const app = new Koa();
    if (kind === 'empty') app.use((_ctx, next) => next());
    if (kind === 'ours') app.use(forKoa(AMPLE_INTAKE));
    app.use((ctx) => {
      ctx.status = 200;
      ctx.body = '';
    });
    const listener = app.callback();
    return (req, res) => void listener(req, res);
  },
  node(kind) {
    const answer: RequestListener = (_req, res) => {
      res.statusCode = 200;
      res.end();
    };
    if (kind === 'ours') return withBackpressure(answer, AMPLE_INTAKE);
    if (kind === 'without') return answer;
    return (req, res) => {
      answer(req, res);
    };
  },
};

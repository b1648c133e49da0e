import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { AMPLE_INTAKE } from '../http/ample.ts';
import type { Kind } from './plan.ts';
import { webHandler } from './web-kinds.ts';

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
  fastify(kind) {
    const listeners: RequestListener[] = [];
    const app = fastify({
      serverFactory(handler) {
        listeners.push(handler);
        return createServer(handler);
      },
    });
    // Leaves the body unread, as the other frameworks do.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => {
      done(null);
    });
    if (kind === 'empty') {
      app.addHook('onRequest', (_request, _reply, done) => {
        done();
      });
    }
    if (kind === 'ours') app.register(forFastify, AMPLE_INTAKE);
    app.register((scope, _options, done) => {
      scope.post('/webhooks', (_request, reply) => {
        void reply.send();
      });
      done();
    });
    const ready = app.ready();
    // Requests that arrive before the plugin has loaded wait.
    let listen: RequestListener = (req, res) =>
      void ready.then(() => {
        listen = listeners[0] ?? listen;
        listen(req, res);
      });
    return (req, res) => {
      listen(req, res);
    };
  },
  hono(kind) {
    const app = new Hono();
    if (kind === 'empty') app.use((_c, next) => next());
    if (kind === 'ours') app.use(forHono(AMPLE_INTAKE));
    app.post('/webhooks', (c) => c.body(null));
    const listener = getRequestListener(app.fetch);
    return (req, res) => void listener(req, res);
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
  'web-on-node-server'(kind) {
    const listener = getRequestListener(webHandler(kind));
    return (req, res) => void listener(req, res);
  },
};

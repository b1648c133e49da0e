import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Tracer } from '@opentelemetry/api';
import { getRequestListener } from '@hono/node-server';
import type { Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { underSpan } from './traced.ts';

/** The work of a handler, for the delivery with this id. */
export type Work = (id: string) => Promise<void>;

/** The server of a framework with the middleware, one delivery at a time. */
export type Framework = (intake: Intake, work: Work) => RequestListener;

const idOf = (req: IncomingMessage): string => String(req.headers['webhook-id']);

export const frameworks: Readonly<Record<string, Framework>> = {
  node: (intake, work) =>
    withBackpressure(
      async (req, res) => {
        await work(idOf(req));
        res.end();
      },
      { intake },
    ),
  express: (intake, work) => {
    const app = express();
    app.use(forExpress({ intake }), async (req, res) => {
      await work(idOf(req));
      res.end();
    });
    return app;
  },
  koa: (intake, work) => {
    const app = new Koa();
    app.use(forKoa({ intake }));
    app.use(async (ctx) => {
      await work(idOf(ctx.req));
      ctx.status = 200;
    });
    const listener = app.callback();
    return (req, res) => void listener(req, res);
  },
  hono: (intake, work) => {
    const app = new Hono();
    app.use(forHono({ intake }));
    app.post('/', async (c) => {
      await work(c.req.header('webhook-id') ?? '');
      return c.body(null);
    });
    const listener = getRequestListener(app.fetch);
    return (req, res) => void listener(req, res);
  },
};

/** Handles each request under its own span, named by its id, as the instrumentation of node:http does. */
export function traced(tracer: Tracer, listener: RequestListener): ReturnType<typeof createServer> {
  return createServer((req: IncomingMessage, res: ServerResponse & { req: IncomingMessage }) => {
    const { end } = underSpan(tracer, `request ${idOf(req)}`, () => {
      listener(req, res);
    });
    res.on('close', end);
  });
}

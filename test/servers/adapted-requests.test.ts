import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { BackpressureInfo } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it, vi } from 'vitest';

const HEADERS = {
  'x-shopify-topic': 'orders/create',
  'x-shopify-webhook-id': '7',
  // A number, as one of these adapters sets it.
  'content-length': 0,
};

type Report = (info: BackpressureInfo | undefined) => void;

/** Passes a request to an app whose handler reports what it receives. */
const apps: { name: string; hand: (req: IncomingMessage, res: ServerResponse, report: Report) => unknown }[] =
  [
    {
      name: 'node:http',
      hand: (req, res, report) => {
        withBackpressure(({ backpressure }) => {
          report(backpressure);
        })(req, res);
      },
    },
    {
      name: 'Express',
      hand: (req, res, report) => {
        const app = express();
        app.use(forExpress(), ({ backpressure }) => {
          report(backpressure);
        });
        app(req as express.Request, res as express.Response);
      },
    },
    {
      name: 'Koa',
      hand: (req, res, report) => {
        const app = new Koa();
        app.use(forKoa()).use(({ state }) => {
          report(state.backpressure);
        });
        return app.callback()(req, res);
      },
    },
    {
      name: 'Hono',
      hand: (req, res, report) => {
        const app = new Hono().use(forHono()).post('/', (c) => {
          report(c.get('backpressure'));
          return c.body(null);
        });
        return app.fetch(new Request('http://x/', { method: 'POST' }), { incoming: req, outgoing: res });
      },
    },
  ];

// Adapters for serverless functions set only a part of a request, and an earlier middleware may have changed it.
describe.each(apps)('a request on $name', ({ hand }) => {
  it.each([
    ['empty', []],
    ['missing', undefined],
    ['others', ['X-GitHub-Event', 'push', 'X-GitHub-Delivery', '8']],
  ])('is identified by its headers when the raw headers are %s', async (_what, rawHeaders) => {
    const req = new IncomingMessage(new Socket());
    Object.assign(req, { method: 'POST', url: '/', headers: HEADERS, rawHeaders });
    const report = vi.fn<Report>();
    await hand(req, new ServerResponse(req), report);
    expect(report).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ sender: 'shopify', id: '7' }));
  });
});

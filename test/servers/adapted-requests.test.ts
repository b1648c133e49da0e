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
  // As one of the adapters has it.
  'content-length': 0,
};

type Tell = (info: BackpressureInfo | undefined) => void;

/** Hands a request to an app whose handler tells what it finds. */
const apps: { name: string; hand: (req: IncomingMessage, res: ServerResponse, tell: Tell) => unknown }[] = [
  {
    name: 'node:http',
    hand: (req, res, tell) => {
      withBackpressure(({ backpressure }) => {
        tell(backpressure);
      })(req, res);
    },
  },
  {
    name: 'Express',
    hand: (req, res, tell) => {
      const app = express();
      app.use(forExpress(), ({ backpressure }) => {
        tell(backpressure);
      });
      app(req as express.Request, res as express.Response);
    },
  },
  {
    name: 'Koa',
    hand: (req, res, tell) => {
      const app = new Koa();
      app.use(forKoa()).use(({ state }) => {
        tell(state.backpressure);
      });
      return app.callback()(req, res);
    },
  },
  {
    name: 'Hono',
    hand: (req, res, tell) => {
      const app = new Hono().use(forHono()).post('/', (c) => {
        tell(c.get('backpressure'));
        return c.body(null);
      });
      return app.fetch(new Request('http://x/', { method: 'POST' }), { incoming: req, outgoing: res });
    },
  },
];

// Adapters for serverless functions fill in what they know, and an earlier middleware may have changed it.
describe.each(apps)('a request on $name', ({ hand }) => {
  it.each([
    ['empty', []],
    ['missing', undefined],
    ['others', ['X-GitHub-Event', 'push', 'X-GitHub-Delivery', '8']],
  ])('is recognised by its headers when the raw ones are %s', async (_what, rawHeaders) => {
    const req = new IncomingMessage(new Socket());
    Object.assign(req, { method: 'POST', url: '/', headers: HEADERS, rawHeaders });
    const tell = vi.fn<Tell>();
    await hand(req, new ServerResponse(req), tell);
    expect(tell).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ sender: 'shopify', id: '7' }));
  });
});

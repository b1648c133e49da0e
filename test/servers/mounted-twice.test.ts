import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, describe, expect, it } from 'vitest';

type Mount = (...intakes: Intake[]) => RequestListener;

/** A receiver behind these intakes, in this order. */
const frameworks: { name: string; mount: Mount }[] = [
  {
    name: 'node:http',
    mount: (...intakes) =>
      intakes.reduceRight<RequestListener>(
        (listener, intake) => withBackpressure(listener, { intake }),
        (_req, res) => res.end('done'),
      ),
  },
  {
    name: 'Express',
    mount: (...intakes) => {
      const app = express();
      for (const intake of intakes) app.use(forExpress({ intake }));
      return app.post('/', (_req, res) => void res.send('done'));
    },
  },
  {
    name: 'Koa',
    mount: (...intakes) => {
      const app = new Koa();
      for (const intake of intakes) app.use(forKoa({ intake }));
      return app.use((ctx) => (ctx.body = 'done')).callback();
    },
  },
  {
    name: 'Hono',
    mount: (...intakes) => {
      const app = new Hono();
      for (const intake of intakes) app.use(forHono({ intake }));
      app.post('/', (c) => c.text('done'));
      return getRequestListener(app.fetch);
    },
  },
];

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function send(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${String(port)}/`, { method: 'POST' });
  return answer.text();
}

function admittedBy(...intakes: Intake[]): number[] {
  return intakes.map((intake) => intake.snapshot().totals.admitted);
}

describe.each(frameworks)('an intake mounted twice on $name', ({ mount }) => {
  it('admits a delivery once', async () => {
    const intake = createIntake();
    expect(await send(mount(intake, intake))).toBe('done');
    expect(admittedBy(intake)).toEqual([1]);
  });

  it('admits a delivery once with another intake in between', async () => {
    const [outer, inner] = [createIntake(), createIntake()];
    expect(await send(mount(outer, inner, outer))).toBe('done');
    expect(admittedBy(outer, inner)).toEqual([1, 1]);
  });

  it('admits a delivery once when it is in front of the framework and inside it', async () => {
    const [outer, inner] = [createIntake(), createIntake()];
    expect(await send(withBackpressure(mount(inner, outer), { intake: outer }))).toBe('done');
    expect(admittedBy(outer, inner)).toEqual([1, 1]);
  });
});

it('an intake admits a delivery once that one Hono app passes to another', async () => {
  const intake = createIntake();
  const inner = new Hono().use(forHono({ intake })).post('/', (c) => c.text('done'));
  const outer = new Hono()
    .use(forHono({ intake }))
    .post('/', (c) => inner.fetch(new Request(c.req.raw), c.env));
  expect(await send(getRequestListener(outer.fetch))).toBe('done');
  expect(admittedBy(intake)).toEqual([1]);
});

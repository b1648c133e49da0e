import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express, { type Express, type Request, type Response } from 'express';
import express4 from 'express4';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const servers: Server[] = [];
let ends: (() => void)[];

beforeEach(() => {
  ends = [];
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function post(listener: RequestListener, path: string): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { status } = await fetch(`http://127.0.0.1:${String(port)}${path}`, { method: 'POST', body: '{}' });
  return status;
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('following the handlers of %s', (_name, framework) => {
  it('ends where a router is mounted in itself', async () => {
    const folder = framework.Router();
    folder.post('/webhooks', (_req, res) => res.sendStatus(200));
    folder.use('/:folder', folder);
    expect(await post(framework().use(webhookBackpressure(), folder), '/inner/webhooks')).toBe(200);
  });

  it('keeps the names, lengths and properties of handlers', async () => {
    const createOrder = Object.assign(
      function createOrder(_req: Request, res: Response) {
        res.sendStatus(200);
      },
      { roles: ['shop'] },
    );
    const routes = framework.Router().post('/webhooks', createOrder);
    expect(await post(framework().use(webhookBackpressure(), routes), '/webhooks')).toBe(200);
    const handle = routes.stack[0]?.route?.stack[0]?.handle as typeof createOrder;
    expect([handle.name, handle.length, handle.roles]).toEqual(['createOrder', 2, ['shop']]);
  });

  it('follows all apps of one middleware', async () => {
    const middleware = webhookBackpressure();
    const { intake } = middleware;
    const create = (): Express =>
      framework().post('/webhooks', middleware, async (_req, res) => {
        res.sendStatus(200);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    for (const app of [create(), create(), create()]) expect(await post(app, '/webhooks')).toBe(200);
    expect(intake.snapshot().active).toBe(3);
    for (const end of ends) end();
    while (intake.snapshot().active > 0) await setImmediate();
  });
});

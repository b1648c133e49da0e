import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createIntake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/koa';
import Koa, { type Next } from 'koa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { post, Wire } from './wire.ts';

let server: Server;
let app: Koa;

beforeEach(() => {
  app = new Koa();
  app.silent = true;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Sends one delivery and returns the text of its response. */
async function send(): Promise<string> {
  const listener = app.callback();
  server = createServer((req, res) => void listener(req, res));
  server.listen(0);
  await once(server, 'listening');
  const wire = new Wire((server.address() as AddressInfo).port);
  wire.write(post('', 'Connection: close'));
  await wire.whenOver();
  return wire.received;
}

/** Other composers than Koa's, and tests of an app, pass a `next` that returns no promise. */
describe('a middleware that is called with a next of another composer', () => {
  it('releases the permit after a next that returns no promise', async () => {
    const intake = createIntake();
    const guard = webhookBackpressure({ intake });
    app.use(async (ctx) => {
      const next = (): void => {
        ctx.body = 'done';
      };
      await guard(ctx, next as unknown as Next);
    });
    expect(await send()).toContain('HTTP/1.1 200');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit after a next that throws', async () => {
    const intake = createIntake();
    const guard = webhookBackpressure({ intake });
    app.use(async (ctx) => {
      await guard(ctx, () => {
        throw new Error('not handled');
      });
    });
    expect(await send()).toContain('HTTP/1.1 500');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { failed: 1 } });
  });

  it.each([
    ['admitted', {}],
    ['refused', { shed: { default: true } }],
    ['skipped', { skip: () => true }],
    [
      'not read, because a callback throws',
      {
        skip: () => {
          throw new Error('no');
        },
      },
    ],
  ])('returns a promise for a request that is %s', async (_, options) => {
    const guard = webhookBackpressure(options);
    let returned: unknown;
    app.use((ctx) => {
      const next = (): void => {
        ctx.body = 'done';
      };
      returned = guard(ctx, next as unknown as Next);
      return returned;
    });
    await send();
    expect(returned).toBeInstanceOf(Promise);
  });
});

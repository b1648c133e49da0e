import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import express from 'express';
import Koa from 'koa';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { post, Wire } from './wire.ts';

let server: Server;

afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Sends one delivery and returns the connection with its response. */
async function send(listener: RequestListener): Promise<Wire> {
  server = createServer(listener);
  server.listen(0);
  await once(server, 'listening');
  const wire = new Wire((server.address() as AddressInfo).port);
  wire.write(post('{}', 'Connection: close'));
  await wire.whenOver();
  return wire;
}

/** An intake that would refuse everything. */
function shedding(): Intake {
  return createIntake({ shed: { default: true } });
}

describe('a delivery to which an earlier middleware has responded', () => {
  it('continues to its handler on Express', async () => {
    const handled = vi.fn();
    const app = express();
    app.use((_req, res, next) => {
      res.sendStatus(202);
      next();
    });
    app.use(forExpress({ intake: shedding() }), handled);
    expect((await send(app)).received).toContain('202 Accepted');
    expect(handled).toHaveBeenCalledOnce();
  });

  it('continues to its handler on Koa', async () => {
    const handled = vi.fn();
    const app = new Koa();
    app.use((ctx, next) => {
      ctx.respond = false;
      ctx.res.writeHead(202).end();
      return next();
    });
    app.use(forKoa({ intake: shedding() })).use(handled);
    expect((await send(app.callback())).received).toContain('202 Accepted');
    expect(handled).toHaveBeenCalledOnce();
  });
});

describe('a middleware before ours', () => {
  it('sees the status of a refusal on Koa, even before it is sent', async () => {
    const logged: number[] = [];
    const app = new Koa();
    app.use(async (ctx, next) => {
      await next();
      logged.push(ctx.status);
    });
    app.use(forKoa({ intake: shedding() }));
    expect((await send(app.callback())).received).toContain('503 Service Unavailable');
    expect(logged).toEqual([503]);
  });
});

describe('a listener that fails', () => {
  const LONG = 'x'.repeat(5_000_000);

  it('has its response sent when it fails after the end of the response', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const wire = await send(
      withBackpressure((_req, res) => {
        res.end(LONG);
        throw new Error('too late');
      }),
    );
    expect(wire.received.endsWith(LONG)).toBe(true);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('has its connection closed when it fails within the response, so that the response is not taken as complete', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    const wire = await send(
      withBackpressure((_req, res) => {
        res.write('half');
        throw new Error('in the middle');
      }),
    );
    expect(wire.received).not.toContain('\r\n0\r\n');
  });

  it('counts as failed when it ends its response and then destroys it with an error', async () => {
    const listener = withBackpressure((_req, res) => {
      res.end('whole');
      res.destroy(new Error('broken'));
    });
    await send(listener);
    expect(listener.intake.snapshot().totals).toMatchObject({ completed: 0, failed: 1 });
  });
});

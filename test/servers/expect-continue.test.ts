import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { createIntake } from '@webhook-backpressure/core';
import {
  withBackpressure,
  type RequestListener,
  type WithBackpressureOptions,
} from '@webhook-backpressure/node';
import express from 'express';
import Koa from 'koa';
import { afterEach, describe, expect, it } from 'vitest';
import { head, Wire } from './wire.ts';

const ASKING = head('Content-Length: 4', 'Expect: 100-continue');
const GO_ON = 'HTTP/1.1 100 Continue\r\n\r\n';
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const echo: RequestListener = async (req, res) => {
  res.end(await text(req));
};

async function serve(server: Server): Promise<Wire> {
  open.push({
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  server.listen(0);
  await once(server, 'listening');
  return connect(server);
}

function connect(server: Server): Wire {
  const wire = new Wire((server.address() as AddressInfo).port);
  open.push(wire);
  return wire;
}

/** One function for both events, as documented. */
function serveBoth(options: WithBackpressureOptions = {}, behind: RequestListener = echo): Promise<Wire> {
  const listener = withBackpressure(behind, options);
  return serve(createServer(listener).on('checkContinue', listener));
}

describe('a sender that sends Expect: 100-continue', () => {
  it('is refused before it sends the body', async () => {
    const wire = await serveBoth({ shed: { default: true } });
    wire.write(ASKING);
    await wire.until('"reason":"shed"');
    expect(wire.received).toMatch(/^HTTP\/1.1 503 [^]*Connection: close\r\n/);
    expect(wire.received).not.toContain('100 Continue');
  });

  it('receives its refusal when it sends the body without waiting', async () => {
    const wire = await serveBoth({ shed: { default: true } });
    wire.write(ASKING);
    await wire.until('"reason":"shed"');
    wire.write('paid');
    await wire.whenOver();
    expect(wire.error).toBe(undefined);
  });

  it.each([
    ['of node:http', echo],
    ['of Express', express().use(echo) as RequestListener],
    ['of Koa', new Koa().use(async (ctx) => void (ctx.body = await text(ctx.req))).callback()],
  ])('gets 100 Continue exactly once when it is admitted by a listener %s', async (_whose, behind) => {
    const wire = await serveBoth({}, behind);
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it('gets 100 Continue before its delivery takes a place in the queue', async () => {
    const intake = createIntake({ concurrency: 1 });
    const listener = withBackpressure(echo, { intake });
    const server = createServer(listener).on('checkContinue', listener);
    const wire = await serve(server);
    const first = intake.admit();
    wire.write(ASKING);
    await wire.until(GO_ON);
    expect(intake.snapshot().depth).toBe(0);
    wire.write('paid');
    while (intake.snapshot().depth === 0) await setImmediate();
    if (first.admitted && 'release' in first.permit) first.permit.release();
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it('gets 100 Continue when it is skipped', async () => {
    const wire = await serveBoth({ skip: () => true, shed: { default: true } });
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it('loses its connection after the response of a handler, since the next bytes may be the body', async () => {
    const wire = await serveBoth({
      shed: { default: true },
      onRefused: (_refusal, _req, res) => res.writeHead(418).end('teapot'),
    });
    wire.write(ASKING);
    await wire.whenOver();
    expect(wire.received).toMatch(/^HTTP\/1.1 418 [^]*Connection: close\r\n/);
  });

  it('gets 100 Continue from node when checkContinue has no listener', async () => {
    const wire = await serve(createServer(withBackpressure(echo)));
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it("gets 100 Continue only from the caller's own listener", async () => {
    const server = createServer(withBackpressure(echo));
    server.on('checkContinue', (req: IncomingMessage, res) => {
      res.writeContinue();
      server.emit('request', req, res);
    });
    const wire = await serve(server);
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });
});

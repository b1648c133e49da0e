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

/** Both events by one function, as documented. */
function serveBoth(options: WithBackpressureOptions = {}, behind: RequestListener = echo): Promise<Wire> {
  const listener = withBackpressure(behind, options);
  return serve(createServer(listener).on('checkContinue', listener));
}

describe('a sender that asks before it sends its body', () => {
  it('is refused before it sends', async () => {
    const wire = await serveBoth({ shed: { default: true } });
    wire.write(ASKING);
    await wire.until('"reason":"shed"');
    expect(wire.received).toMatch(/^HTTP\/1.1 503 [^]*Connection: close\r\n/);
    expect(wire.received).not.toContain('100 Continue');
  });

  it('sees its refusal when it has lost its patience and sends at the same time', async () => {
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
  ])('is told to go on exactly once when it is let in by a listener %s', async (_whose, behind) => {
    const wire = await serveBoth({}, behind);
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it('is asked for its body before its delivery takes a place in the queue', async () => {
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

  it('is told to go on when it is skipped', async () => {
    const wire = await serveBoth({ skip: () => true, shed: { default: true } });
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it('loses its connection when a handler has answered, since its next bytes may be the body', async () => {
    const wire = await serveBoth({
      shed: { default: true },
      handler: (_refusal, _req, res) => res.writeHead(418).end('teapot'),
    });
    wire.write(ASKING);
    await wire.whenOver();
    expect(wire.received).toMatch(/^HTTP\/1.1 418 [^]*Connection: close\r\n/);
  });

  it('is told to go on by node alone where nobody listens to checkContinue', async () => {
    const wire = await serve(createServer(withBackpressure(echo)));
    wire.write(ASKING);
    await wire.until(GO_ON);
    wire.write('paid');
    await wire.until('\r\n\r\npaid');
    expect(wire.received.split('100 Continue')).toHaveLength(2);
  });

  it("is told to go on by the caller's own listener alone", async () => {
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

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { type RequestListener, withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import express4 from 'express4';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endings, thrownValues } from '../thrown-values.ts';

interface Options {
  intake?: Intake;
  skip?: () => Promise<boolean>;
  keyGenerator?: () => string;
  onRefused?: () => Promise<never>;
}
type Create = (options: Options, handler: () => unknown) => RequestListener | Promise<RequestListener>;

const frameworks: [string, Create][] = [
  ['node:http', (options, handler) => withBackpressure(handler, options)],
  ['Express 5', (options) => express().use(forExpress(options))],
  ['Express 4', (options) => express4().use(forExpress(options))],
  ['Koa', (options) => new Koa().use(forKoa(options)).callback()],
  ['Hono', (options) => getRequestListener(new Hono().use(forHono(options)).fetch)],
  [
    'Fastify',
    async (options) => {
      const app = fastify();
      await app.register(forFastify, options);
      app.post('/', () => 'done');
      await app.ready();
      return (req, res) => {
        app.routing(req, res);
      };
    },
  ],
];

let server: Server;
const ended = endings();

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
});

afterEach(async () => {
  // A rejection is reported at the end of the turn.
  await setImmediate();
  expect(ended).toEqual([]);
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function statusOf(listener: RequestListener): Promise<number> {
  server = createServer(listener).listen(0);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  return (await fetch(url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(5000) })).status;
}

const refusing = { intake: createIntake({ shed: { default: true } }) };

describe.each(frameworks)('a callback on %s', (_framework, create) => {
  describe.each(thrownValues)('that throws %s', (_name, value) => {
    const throwIt = (): never => {
      throw value();
    };
    // eslint-disable-next-line @typescript-eslint/require-await -- it rejects
    const reject = async (): Promise<never> => throwIt();
    const callbacks: [string, Options][] = [
      ['an async skip', { skip: reject }],
      ['keyGenerator', { keyGenerator: throwIt }],
      ['an async onRefused', { ...refusing, onRefused: reject }],
    ];

    it.each(callbacks)('fails this request only: %s', async (_callback, options) => {
      expect(await statusOf(await create(options, () => undefined))).toBe(500);
    });
  });
});

it.each(thrownValues)('a listener that throws %s fails this request only', async (_name, value) => {
  const listener = withBackpressure(() => {
    throw value();
  });
  expect(await statusOf(listener)).toBe(500);
  server.close();
  expect(await statusOf(withBackpressure(() => Promise.reject(value() as Error)))).toBe(500);
});

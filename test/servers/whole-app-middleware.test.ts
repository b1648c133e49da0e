import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import express5 from 'express';
import express4 from 'express4';
import type { FastifyInstance } from 'fastify';
import { Hono as HonoLatest } from 'hono';
import { Hono as Hono40 } from 'hono40';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sender } from '../conformance/sender.ts';
import { versions } from '../fastify/apps.ts';

type App = () => RequestListener | Promise<RequestListener>;
type Apps = readonly (readonly [name: string, app: App])[];

const HOOKS = { path: '/webhooks' };

function ofExpress(create: typeof express5): { whole: Apps; some: Apps } {
  const app = (mount: (app: ReturnType<typeof express5>) => void) => (): RequestListener => {
    const created = create();
    mount(created);
    return created.use((_req, res) => void res.sendStatus(204));
  };
  const { Router } = create;
  return {
    whole: [
      ['app.use', app((one) => void one.use(forExpress()))],
      ['a router without a path', app((one) => void one.use(Router().use(forExpress())))],
    ],
    some: [
      ['app.use at a path', app((one) => void one.use('/webhooks', forExpress()))],
      ['a route', app((one) => void one.post('/webhooks', forExpress()))],
      ['a router at a path', app((one) => void one.use('/webhooks', Router().use(forExpress())))],
      ['a sub-app at a path', app((one) => void one.use('/webhooks', create().use(forExpress())))],
      ['the option path', app((one) => void one.use(forExpress(HOOKS)))],
    ],
  };
}

function ofKoa(Koa: typeof Koa3): { whole: Apps; some: Apps } {
  const app = (middleware: Koa3.Middleware) => (): RequestListener =>
    new Koa()
      .use(middleware)
      .use((ctx) => void (ctx.status = 204))
      .callback();
  const routed = forKoa();
  return {
    whole: [['app.use', app(forKoa())]],
    some: [
      ['the option path', app(forKoa(HOOKS))],
      ['as a router', app((ctx, next): unknown => (ctx.path === '/webhooks' ? routed(ctx, next) : next()))],
    ],
  };
}

function ofHono(Hono: typeof HonoLatest): { whole: Apps; some: Apps } {
  const app = (mount: (app: HonoLatest) => void) => (): RequestListener => {
    const created = new Hono();
    mount(created);
    return getRequestListener(created.all('*', (c) => c.body(null, 204)).fetch);
  };
  return {
    whole: [
      ['app.use', app((one) => void one.use(forHono()))],
      ['app.use for all paths', app((one) => void one.use('*', forHono()))],
    ],
    some: [
      ['app.use at a path', app((one) => void one.use('/webhooks', forHono()))],
      ['a route', app((one) => void one.post('/webhooks', forHono()))],
      ['a sub-app at a path', app((one) => void one.route('/webhooks', new Hono().use(forHono())))],
      ['the option path', app((one) => void one.use(forHono(HOOKS)))],
    ],
  };
}

function ofFastify(create: (typeof versions)[number]['create']): { whole: Apps; some: Apps } {
  const app =
    (mount: (app: FastifyInstance) => PromiseLike<unknown>) => async (): Promise<RequestListener> => {
      const created = create();
      await mount(created);
      created.post('/login', (_request, reply) => void reply.code(204).send());
      await created.ready();
      return (req, res) => created.server.emit('request', req, res);
    };
  const scope = async (one: FastifyInstance): Promise<void> => {
    await one.register(forFastify);
    one.post('/webhooks', (_request, reply) => void reply.code(204).send());
  };
  return {
    whole: [['register', app((one) => one.register(forFastify))]],
    some: [
      ['register in a scope', app((one) => one.register(scope))],
      ['the option path', app((one) => one.register(forFastify, HOOKS))],
    ],
  };
}

const frameworks: Record<string, { whole: Apps; some: Apps }> = {
  'Express 4.18': ofExpress(express4),
  'Express 5': ofExpress(express5),
  'Koa 2.13': ofKoa(Koa2),
  'Koa 3': ofKoa(Koa3),
  'Hono 4.0': ofHono(Hono40),
  'Hono 4': ofHono(HonoLatest),
  ...Object.fromEntries(versions.map(({ name, create }) => [name, ofFastify(create)])),
  'node:http': { whole: [], some: [['withBackpressure', () => withBackpressure((_req, res) => res.end())]] },
};
const cases = (which: 'whole' | 'some'): [string, App][] =>
  Object.entries(frameworks).flatMap(([name, apps]) =>
    apps[which].map(([how, app]): [string, App] => [`${name}: ${how}`, app]),
  );

let server: Server;
const sender = new Sender(false);
const warned: unknown[] = [];

beforeEach(() => {
  warned.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((...given: unknown[]) => {
    warned.push((given[1] as { code?: unknown }).code);
  });
  vi.spyOn(console, 'warn').mockImplementation((line: string) => {
    warned.push(line.split(':')[0]);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  server.close();
});

/** The warnings of an app that gets deliveries and logins. */
async function warningsOf(app: App): Promise<unknown[]> {
  server = createServer(await app()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const path of ['/webhooks', '/login', '/webhooks', '/login']) await sender.send(port, { path }).reply;
  return warned;
}

describe('the warning of a middleware that is mounted for a whole app', () => {
  it.each(cases('whole'))('is given once (%s)', async (_, app) => {
    expect(await warningsOf(app)).toEqual(['WBP_WHOLE_APP']);
  });

  it.each(cases('some'))('is not given at a path, or where that is the only way (%s)', async (_, app) => {
    expect(await warningsOf(app)).toEqual([]);
  });
});

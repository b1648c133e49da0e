import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookInbox as inboxForExpress } from '@webhook-backpressure/express/inbox';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import { createIntake } from '@webhook-backpressure/core';
import { memoryStore } from '@webhook-backpressure/inbox';
import { webhookInbox as inboxForWeb } from '@webhook-backpressure/web/inbox';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sender } from '../conformance/sender.ts';

const inbox = () => ({ store: memoryStore(), verify: false as const, process: () => undefined });
const end: RequestListener = (_req, res) => res.end();
const warned: string[] = [];
const sender = new Sender();
let server: Server | undefined;

beforeEach(() => {
  warned.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((...[message, given]: unknown[]) => {
    warned.push(`${(given as { code: string }).code}: ${String(message)}`);
  });
  vi.spyOn(console, 'warn').mockImplementation((line: string) => {
    warned.push(line);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  server?.close();
  server?.closeAllConnections();
});

async function sendAll(listener: RequestListener, paths = new Array<string>(25).fill('/a')): Promise<void> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const path of paths) await sender.send(port, { path }).reply;
}

describe('a middleware or an inbox that is created for each request', () => {
  it.each<[string, () => RequestListener]>([
    ['Express', () => express().use((req, res, next) => void forExpress()(req, res, next))],
    [
      'Express, after an await',
      () =>
        express().use(async (req, res, next) => {
          await Promise.resolve();
          void forExpress()(req, res, next);
        }),
    ],
    ['Koa', () => new Koa().use((ctx, next): unknown => forKoa()(ctx, next)).callback()],
    ['Hono', () => getRequestListener(new Hono().use((c, next) => forHono()(c, next)).fetch)],
    [
      'node:http',
      () => (req, res) => {
        withBackpressure(end)(req, res);
      },
    ],
    [
      'the inbox of Express',
      () => express().use('/a', (req, res, next) => void inboxForExpress(inbox())(req, res, next)),
    ],
    ['the inbox of web', () => getRequestListener((request) => inboxForWeb(inbox())(request))],
  ])('is reported once, with its place (%s)', async (_, listenerOf) => {
    await sendAll(listenerOf());
    expect(warned).toEqual([expect.stringMatching(/^WBP_IN_HANDLER: .*created-in-handler\.test\.ts:\d+/)]);
  });
});

describe('nothing is reported of a middleware that', () => {
  it('is created at start-up, for each of several routes', async () => {
    const app = express();
    for (const path of ['/a', '/b', '/c']) app.use(path, forExpress());
    await sendAll(app.use(end), ['/a', '/b', '/c']);
    expect(warned).toEqual([]);
  });

  it('is created when it is needed first, for each of many tenants, and kept', async () => {
    const kept = new Map<string, RequestListener>();
    const listener: RequestListener = (req, res) => {
      const made = kept.get(req.url ?? '') ?? withBackpressure(end);
      kept.set(req.url ?? '', made);
      made(req, res);
    };
    const tenants = Array.from({ length: 15 }, (_, at) => `/${String(at)}`);
    await sendAll(listener, [...tenants, '/0', ...tenants.map((path) => `${path}0`)]);
    expect(warned).toEqual([]);
  });

  it('has a shared intake', async () => {
    const intake = createIntake();
    await sendAll((req, res) => {
      withBackpressure(end, { intake })(req, res);
    });
    expect(warned).toEqual([]);
  });

  it('follows one that is closed', async () => {
    await sendAll((req, res) => {
      const listener = withBackpressure(end);
      listener(req, res);
      void listener.intake.close();
    });
    expect(warned).toEqual([]);
  });
});

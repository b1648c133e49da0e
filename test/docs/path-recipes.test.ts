import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as consumers from 'node:stream/consumers';
import * as fastifyAdapter from '@webhook-backpressure/fastify';
import * as koaAdapter from '@webhook-backpressure/koa';
import * as node from '@webhook-backpressure/node';
import express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { Sender } from '../conformance/sender.ts';
import { WEBHOOK_TARGETS } from '../conformance/target-variants.ts';
import { page, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

/** An app with a recipe of the docs. Its handler at /webhooks passes on `waitedMs`, undefined if it is not limited. */
type App = (seen: (waitedMs: unknown) => void) => Promise<node.RequestListener>;

const LENIENT = { caseSensitive: false, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true };
/** Listens nowhere: the test has its own server. */
const unheard = { createServer: () => ({ on: () => ({ listen: () => undefined }) }) };
const unsignaled = { closeOnSignals: () => undefined };

function block(path: string, text: string): string {
  const found = tokensOf('code', page(path).tokens).find((code) => code.text.includes(text));
  if (found === undefined) throw new Error(`${path} has no code with ${text}.`);
  return found.text;
}

/** Runs a quick start, whose handler logs the body and `waitedMs`. */
function quickStart(
  path: string,
  modules: object,
  returned: string,
  seen: (waitedMs: unknown) => void,
): unknown {
  const log = (_body: string, waitedMs: unknown): void => {
    seen(waitedMs);
  };
  const all = { 'node:stream/consumers': consumers, 'node:http': unheard, ...modules };
  return runBlock(block(path, 'server.mjs'), all, { console: { log } }, returned);
}

function inFront(app: node.RequestListener): node.RequestListener {
  const code = block('docs/frameworks.md', 'withBackpressure(app');
  const modules = { 'node:http': unheard, '@webhook-backpressure/node': node };
  return runBlock(code, modules, { app }, 'listener') as node.RequestListener;
}

/** The listener of an app of Fastify with a route at /webhooks. */
async function routed(
  app: FastifyInstance,
  seen: (waitedMs: unknown) => void,
): Promise<node.RequestListener> {
  app.post('/webhooks', async (request, reply) => {
    seen((request.backpressure ?? request.raw.backpressure)?.waitedMs);
    await reply.code(204).send();
  });
  await app.ready();
  return (req, res) => app.server.emit('request', req, res);
}

const apps: Record<string, App> = {
  'Express behind withBackpressure': (seen) => {
    const app = express();
    app.use('/webhooks', (req, res) => {
      seen(req.backpressure?.waitedMs);
      res.sendStatus(204);
    });
    return Promise.resolve(inFront(app));
  },
  'a listener that reads the path by URL, behind withBackpressure': (seen) =>
    Promise.resolve(
      inFront((req, res) => {
        const { pathname } = new URL(req.url ?? '', 'http://localhost');
        if (decodeURIComponent(pathname).startsWith('/webhooks')) seen(req.backpressure?.waitedMs);
        res.writeHead(204).end();
      }),
    ),
  'the serverFactory of Fastify': (seen) => {
    const create = (options: object): unknown => Fastify({ ...options, routerOptions: LENIENT });
    const code = block('docs/frameworks.md', 'serverFactory(handler)');
    const modules = { 'node:http': http, fastify: create, '@webhook-backpressure/node': node };
    return routed(runBlock(code, modules, {}, 'app') as FastifyInstance, seen);
  },
  'NestJS on Fastify': async (seen) => {
    const app = Fastify({ routerOptions: LENIENT });
    const code = block('docs/nestjs.md', "from '@webhook-backpressure/fastify';\nimport { INTAKE }");
    const modules = {
      '@webhook-backpressure/fastify': fastifyAdapter,
      '../intake.module.js': { INTAKE: 'intake' },
      '../tenants.js': { tenantOf: () => 'tenant' },
    };
    const mount = runBlock(code, modules, {}, 'mountWebhooks') as (nest: object) => Promise<void>;
    await mount({
      get: () => fastifyAdapter.createIntake(),
      getHttpAdapter: () => ({ getInstance: () => app }),
      register: (plugin: typeof fastifyAdapter.webhookBackpressure, options: object) =>
        app.register(plugin, options),
    });
    return routed(app, seen);
  },
  'the quick start for node:http': (seen) => {
    const modules = { '@webhook-backpressure/node': { ...node, ...unsignaled } };
    const listener = quickStart('packages/node/README.md', modules, 'listener', seen);
    return Promise.resolve(listener as node.RequestListener);
  },
  'the quick start for Koa': (seen) => {
    class Unheard extends Koa {
      override listen(): never {
        return undefined as never;
      }
    }
    const modules = { koa: Unheard, '@webhook-backpressure/koa': { ...koaAdapter, ...unsignaled } };
    const app = quickStart('packages/koa/README.md', modules, 'app', seen) as Koa;
    return Promise.resolve(app.callback());
  },
};

describe('the recipes for a middleware that sees every request', () => {
  it.each(Object.entries(apps))('limit each target that reaches the handler: %s', async (_name, create) => {
    const waits: unknown[] = [];
    const server = http.createServer(await create((waitedMs) => waits.push(waitedMs))).listen(0);
    await once(server, 'listening');
    const sender = new Sender();
    const headers = { 'content-type': 'application/json' };
    const unlimited: string[] = [];
    for (const path of WEBHOOK_TARGETS) {
      const count = waits.length;
      await sender.send((server.address() as AddressInfo).port, { path, headers }).reply;
      if (waits.length > count && waits.at(-1) === undefined) unlimited.push(path);
    }
    sender.destroy();
    server.close();
    expect(unlimited).toEqual([]);
    expect(waits.length).toBeGreaterThan(0);
  });
});

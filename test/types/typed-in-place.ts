// Compiled and never run: code that users write without a cast, and code that must not compile.
import {
  createWorker,
  type Inbox,
  type InboxDelivery,
  type InboxStore,
  memoryStore,
  type RawDelivery,
  type ReceivingStore,
} from '@webhook-backpressure/inbox';
import type { BackpressureInfo, Intake, Refusal } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookInbox as inboxForExpress } from '@webhook-backpressure/express/inbox';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookInbox as inboxForHono } from '@webhook-backpressure/hono/inbox';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { webhookInbox as inboxForKoa } from '@webhook-backpressure/koa/inbox';
import { webhookInbox as inboxForNode } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import express, { Router, type Request, type RequestHandler } from 'express';
import { Hono, type Context as HonoContext } from 'hono';
import Koa, { type Context as KoaContext } from 'koa';
import type { Exactly } from '../../e2e/packaging/consumer/exactly.ts';

type Info = BackpressureInfo | undefined;

/** Compiles only for a value of exactly this type. */
function is<Wanted>(): <Given>(
  value: Given,
  ...proof: Exactly<Given, Wanted> extends true ? [] : [never]
) => void {
  return () => undefined;
}

export function onNode(): void {
  const listener = withBackpressure((req) => {
    is<Info>()(req.backpressure);
  });
  is<Intake>()(listener.intake);
  withBackpressure(() => undefined, {
    keyGenerator: (req) => req.headers.host ?? '',
    onRefused: (refusal, req, res) => {
      is<Refusal>()(refusal);
      res.writeHead(refusal.status).end(req.url);
    },
  });
  // @ts-expect-error a key must be synchronous
  withBackpressure(() => undefined, { keyGenerator: () => Promise.resolve('shop') });
  // @ts-expect-error a misspelled option would have no effect
  withBackpressure(() => undefined, { capcity: 10 });
}

export function onExpress(): void {
  const middleware = forExpress({
    keyGenerator: (req) => req.get('x-shop') ?? '',
    skip: async (req) => Promise.resolve(req.path === '/health'),
    delivery: (req) => ({ id: req.get('x-id'), priority: 'critical' }),
    onRefused: (refusal, req, res, next) => {
      is<Refusal>()(refusal);
      if (req.path === '/') res.status(refusal.status).json({});
      else next();
    },
  });
  is<Intake>()(middleware.intake);
  const handler: RequestHandler = (req) => {
    is<Info>()(req.backpressure);
  };
  express().use(middleware).use('/hooks', middleware, Router().post('/:id', handler));
  express().post('/hooks/:id', middleware, (req: Request<{ id: string }>) => {
    is<Info>()(req.backpressure);
    is<string>()(req.params.id);
  });
  // @ts-expect-error only 429 and 503 make senders retry
  forExpress({ statusCode: 500 });
}

export function onKoa(): void {
  const middleware = forKoa({
    keyGenerator: (ctx) => ctx.get('x-shop'),
    onRefused: (refusal, ctx, next) => {
      ctx.status = refusal.status;
      return next();
    },
  });
  is<Intake>()(middleware.intake);
  new Koa().use(middleware).use((ctx) => {
    is<Info>()(ctx.state.backpressure);
  });
  // A custom state may have other properties.
  new Koa<{ user: string; backpressure?: BackpressureInfo }>().use(middleware).use((ctx) => {
    is<Info>()(ctx.state.backpressure);
    is<string>()(ctx.state.user);
  });
  const helper = (ctx: KoaContext) => ctx.state.backpressure;
  is<(ctx: KoaContext) => Info>()(helper);
}

export function onHono(): void {
  const middleware = forHono({
    keyGenerator: (c) => c.req.header('x-shop') ?? '',
    onRefused: (refusal, c) => c.text(refusal.reason, refusal.status),
  });
  is<Intake>()(middleware.intake);
  new Hono()
    .use(middleware)
    .use('/hooks/*', middleware)
    .post('/', (c) => {
      const info = c.get('backpressure');
      is<Info>()(info);
      is<Info>()(c.var.backpressure);
      return c.text(info?.key ?? '');
    });
  new Hono<{ Bindings: { TOKEN: string }; Variables: { user: string } }>().use(middleware).post('/', (c) => {
    const info = c.get('backpressure');
    is<Info>()(info);
    is<string>()(c.env.TOKEN);
    return c.text(c.get('user'));
  });
  const helper = (c: HonoContext) => c.get('backpressure');
  is<(c: HonoContext) => Info>()(helper);
}

export function inInboxes(): void {
  const webhooks = inboxForNode({
    store: memoryStore(),
    process: (delivery, { attempt, signal }) => {
      is<InboxDelivery>()(delivery);
      is<number>()(attempt);
      is<AbortSignal>()(signal);
    },
    verify: (delivery) => {
      is<RawDelivery>()(delivery);
      // @ts-expect-error the headers are frozen
      delivery.headers['x-user'] = 'admin';
      // @ts-expect-error a forged request may lack the header
      return delivery.headers['x-signature'].length > 0;
    },
    id: ({ json }) => (json() as { id?: string }).id,
    handshake: async ({ text }) => Promise.resolve(text() === 'hello' ? { body: 'hello' } : null),
  });
  is<Inbox>()(webhooks.inbox);
  const required = { store: memoryStore(), process: () => undefined };
  // @ts-expect-error verify is required: accepting unverified deliveries takes `verify: false`
  inboxForNode(required);
  // @ts-expect-error an id must be synchronous
  inboxForNode({ ...required, verify: false, id: () => Promise.resolve('id') });
  const options = { ...required, verify: false } as const;
  // @ts-expect-error a context must be synchronous
  inboxForNode({ ...options, context: () => Promise.resolve('tenant') });
  inboxForNode({ ...options, context: (req) => ({ address: req.socket.remoteAddress }) });
  inboxForNode({ ...options, verify: verifiers.stripe({ secret: process.env['SECRET'] }) });
  // @ts-expect-error Twilio signs the whole URL, so baseUrl is required
  inboxForNode({ ...options, verify: verifiers.twilio({ secret: 'token' }) });
  express().post('/hooks/:id', inboxForExpress({ ...options, context: (req) => ({ id: req.params['id'] }) }));
  new Koa().use(inboxForKoa({ ...options, context: (ctx) => ctx.get('x-tenant') }));
  new Hono<{ Bindings: { TOKEN: string } }>().post(
    '/',
    inboxForHono({ ...options, context: (c) => c.req.param('id') ?? null }),
  );
}

export function inRoles(store: InboxStore, doorOnly: ReceivingStore): void {
  is<Inbox>()(inboxForNode({ store, verify: false }).inbox);
  is<Inbox>()(inboxForExpress({ store: doorOnly, verify: false, context: (req) => req.path }).inbox);
  is<Inbox>()(createWorker({ store, process: (delivery) => delivery.id, onDead: (_, error) => error }));
  // @ts-expect-error nothing can be claimed from a store that only receives
  inboxForHono({ store: doorOnly, verify: false, process: () => undefined });
  // @ts-expect-error workers receive nothing that could be verified
  createWorker({ store, process: () => undefined, verify: false });
  // @ts-expect-error nothing can be claimed from a store that only receives
  createWorker({ store: doorOnly, process: () => undefined });
  is<Inbox>()(createWorker({ store, on: { stripe: ({ handler }) => handler } }));
  is<Inbox>()(createWorker({ store, processBatch: (deliveries) => deliveries.map(({ id }) => id) }));
  // @ts-expect-error a batch is no delivery
  createWorker({ store, processBatch: (_: { id: string }) => undefined });
}

import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import express5 from 'express';
import type { ErrorRequestHandler } from 'express';
import express4 from 'express4';
import { expressApp } from '../../frameworks/express-app.ts';
import type { Adapter, FrameworkApp, InboxDriver, RoutedInbox } from '../adapter.ts';
import { around } from '../around.ts';
import { translated, type Driver } from '../exchange.ts';
import { askedOf, nodeExchange } from '../node-exchange.ts';

function driver(name: string, create: typeof express5): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: true,
    seesConnection: true,
    answersForHandlers: false,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = create();
      const middleware = webhookBackpressure(translated(options, askedOf, nodeExchange));
      app.use(middleware);
      if (isMountedTwice) app.use(middleware);
      if (isNextTwice) {
        app.use((_req, _res, next) => {
          next();
          next();
        });
      }
      app.use((req, res, next) => {
        const result = handle(nodeExchange(req, res));
        // Express 4 ignores what a handler returns.
        if (result instanceof Promise) result.catch(next);
      });
      const onFailure: ErrorRequestHandler = (error, _req, res, next) => {
        onError(error);
        if (res.headersSent) next(error);
        else res.status(500).end();
      };
      app.use(onFailure);
      return { listener: around(app, host), intake: middleware.intake };
    },
  };
}

function inbox(name: string, create: typeof express5): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = create();
      const webhooks = webhookInbox(options);
      if (reads) app.use(create.json());
      app.all('/webhooks', webhooks, (_req, res) => void res.sendStatus(418));
      const onFailure: ErrorRequestHandler = (error, _req, res, _next) => {
        onError(error);
        res.sendStatus(500);
      };
      app.use(onFailure);
      return { listener: app, inbox: webhooks.inbox };
    },
  };
}

function routed(name: string, create: typeof express5): RoutedInbox {
  return {
    name,
    hasRoutes: true,
    seesSentUrl: true,
    mount({ options }) {
      const webhooks = webhookInbox({ ...options, context: (req) => ({ from: req.get('x-from') }) });
      const router = create.Router({ mergeParams: true });
      router.post('/hooks/:tenant', webhooks);
      const listener = create().use('/api/:version', router);
      return { listener, inbox: webhooks.inbox };
    },
  };
}

function app(name: string, create: typeof express5): FrameworkApp {
  return { name, serve: (options) => expressApp(create, options && webhookBackpressure(options)) };
}

export const adapters: readonly Adapter[] = (
  [
    ['Express 4.18', express4],
    ['Express 5', express5],
  ] as const
).map(([name, create]) => ({
  driver: driver(name, create),
  inbox: inbox(name, create),
  routed: routed(name, create),
  app: app(name, create),
}));

import fastifyLambda from '@fastify/aws-lambda';
import { type Inbox, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { webhookInbox as onExpress } from '@webhook-backpressure/express/inbox';
import { webhookInbox as onFastify } from '@webhook-backpressure/fastify/inbox';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import serverless from 'serverless-http';
import type { Context } from 'aws-lambda';
import type { LambdaEvent } from './lambda-events.ts';

interface Answer {
  readonly statusCode: number;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Record<string, string>;
  readonly multiValueHeaders?: Record<string, string[]>;
}

/** A function that receives into memory. */
export interface Receiver {
  readonly inbox: Inbox;
  handler(event: LambdaEvent): Promise<Answer>;
}

type Options = Pick<InboxOptions, 'verify' | 'maxBodyBytes' | 'capacity'>;

/** One inbox on each adapter for AWS Lambda that the documentation names. */
export const receivers: Record<string, (options: Options) => Receiver> = {
  'hono/aws-lambda': (options) => {
    const webhooks = webhookInbox(withStore(options));
    const app = new Hono();
    app.post('*', (c) => webhooks(c.req.raw));
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- Hono 5 will have it in the package @hono/aws-lambda
    const handler = handle(app) as unknown as Receiver['handler'];
    return { inbox: webhooks.inbox, handler };
  },
  'serverless-http with Express': (options) => {
    const webhooks = onExpress(withStore(options));
    const app = express();
    app.post('/webhooks', webhooks);
    const handler = serverless(app);
    return { inbox: webhooks.inbox, handler: (event) => handler(event, {}) as Promise<Answer> };
  },
  '@fastify/aws-lambda': (options) => {
    const webhooks = onFastify(withStore(options));
    const app = fastify();
    app.post('/webhooks', webhooks);
    const handler = fastifyLambda(app, { albMultiValueHeaders: true });
    return { inbox: webhooks.inbox, handler: (event) => handler(event, {} as Context) };
  },
};

function withStore(options: Options): InboxOptions {
  return { ...options, store: memoryStore(), process: () => undefined };
}

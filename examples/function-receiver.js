// @ts-check
import { postgresStore } from '@webhook-backpressure/postgres';
import { verifiers, webhookInbox } from '@webhook-backpressure/web/inbox';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';

const { DATABASE_URL = 'postgres://localhost/webhooks', WEBHOOK_SECRET } = process.env;
// Created once for each instance of the function, and used by all its invocations.
const webhooks = webhookInbox({
  store: postgresStore({ connectionString: DATABASE_URL }, { pooled: true }),
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
});

/** A function that receives webhooks, for Vercel, Next.js and Netlify. Nothing runs after the response. */
export const POST = webhooks;

// The same for AWS Lambda, behind a function URL, an API Gateway or a load balancer.
const app = new Hono();
app.post('*', (c) => webhooks(c.req.raw));
// eslint-disable-next-line @typescript-eslint/no-deprecated -- Hono 5 will have it in the package @hono/aws-lambda
export const handler = handle(app);

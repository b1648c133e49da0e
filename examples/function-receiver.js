// @ts-check
import { postgresStore } from '@webhook-backpressure/postgres';
import { verifiers, webhookInbox } from '@webhook-backpressure/web';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';

const { DATABASE_URL = 'postgres://localhost/webhooks', WEBHOOK_SECRET } = process.env;
// Created once for each instance of the function, and used by all its invocations.
const webhooks = webhookInbox({
  store: postgresStore({ connectionString: DATABASE_URL }, { pooled: true }),
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
});
// A new instance waits for its store, at most 3 s. Without the store, the inbox responds with 503.
const opened = Promise.race([webhooks.inbox.opened, new Promise((resolve) => setTimeout(resolve, 3000))]);

/**
 * A function that receives webhooks: `export { POST }` for Vercel, Next.js and Netlify. Nothing runs after the response.
 *
 * @param {Request} request
 */
export async function POST(request) {
  await opened;
  return webhooks(request);
}

// The same for AWS Lambda, behind a function URL, an API Gateway or a load balancer.
const app = new Hono();
app.post('*', (c) => POST(c.req.raw));
// eslint-disable-next-line @typescript-eslint/no-deprecated -- Hono 5 will have it in the package @hono/aws-lambda
export const handler = handle(app);

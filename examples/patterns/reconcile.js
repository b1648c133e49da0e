// @ts-check
// Receives from GitHub, which delivers each event once, and fetches what could not be delivered.
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { github, reconcile } from '@webhook-backpressure/reconcile';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

const {
  PORT = '3000',
  DATABASE = './webhooks.db',
  GITHUB_API = 'https://api.github.com',
  GITHUB_HOOK = '/repos/OWNER/REPO/hooks/1',
  GITHUB_TOKEN = 'ghp_of_the_hook',
  WEBHOOK_SECRET = 'secret-of-the-hook',
} = process.env;

const app = express();
const webhooks = webhookInbox({
  store: sqliteStore({ path: DATABASE }),
  verify: verifiers.github({ secret: WEBHOOK_SECRET }),
  process: ({ id, headers }) => {
    console.log('process', headers['x-github-event'], id);
  },
});
app.post('/webhooks', webhooks);

const reconciler = reconcile({
  inbox: webhooks.inbox,
  source: github({ token: GITHUB_TOKEN, hook: GITHUB_HOOK, baseUrl: GITHUB_API }),
});
reconciler.subscribe((event) => {
  if (event.type !== 'run') return;
  const { missed, added, requests, error } = event.result;
  console.log(error ?? `missed ${String(missed)}, added ${String(added)}, requests ${String(requests)}`);
});

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});

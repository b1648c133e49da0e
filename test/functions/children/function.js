// A function that receives for each line of standard input, and prints the status.
import { createInterface } from 'node:readline';
import { postgresStore } from '@webhook-backpressure/postgres';
import { webhookInbox } from '@webhook-backpressure/web/inbox';

const { DATABASE_URL = '', SCHEMA = '' } = process.env;
const webhooks = webhookInbox({
  store: postgresStore({ connectionString: DATABASE_URL }, { pooled: true, schema: SCHEMA }),
  verify: false,
});
await webhooks.inbox.opened;
console.log('open');
for await (const id of createInterface({ input: process.stdin })) {
  const request = new Request('https://shop.example/webhooks', {
    method: 'POST',
    body: '{}',
    headers: { 'webhook-id': id },
  });
  console.log((await webhooks(request)).status);
}

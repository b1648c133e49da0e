import { createServer } from 'node:http';
import { verifiers } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import express from 'express';
import { openChannel } from './channel.ts';
import type { FleetMemberOrders, FleetMemberReports } from './messages.ts';
import { FLEET } from './setup.ts';

const channel = openChannel<FleetMemberOrders, FleetMemberReports>();

channel.on('start', ({ connectionString, secret, port }) => {
  const webhooks = webhookInbox({
    store: postgresStore({ connectionString }),
    verify: verifiers.standardWebhooks({ secret }),
    capacity: FLEET.capacity,
  });
  // The database is stopped on purpose. Without a listener, that would be a warning of the process.
  webhooks.inbox.subscribe(() => undefined);
  const app = express();
  app.post('/webhooks', webhooks);
  createServer(app).listen(port, '127.0.0.1', () => {
    channel.send('ready', {});
  });
});

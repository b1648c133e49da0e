import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Inbox, InboxStore } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { postgresSchema, postgresStore } from '@webhook-backpressure/postgres';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

export async function main(): Promise<unknown> {
  const { DATABASE_URL: connectionString = '' } = process.env;
  const schema = `consumer_${String(process.pid)}`;
  const pool = new pg.Pool({ connectionString });
  const store: InboxStore = postgresStore({ pool }, { schema });
  try {
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    const webhooks = webhookInbox({ ...shopInbox(), store });
    const isInbox: Exactly<typeof webhooks.inbox, Inbox> = true;
    const server = createServer(webhooks).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const delivered = await deliver(webhooks.inbox, async (delivery) => {
      for (;;) {
        const response = await fetch(`http://127.0.0.1:${String(port)}/`, delivery);
        // The store is not open yet.
        if (response.status !== 503) return response;
        await sleep(50);
      }
    });
    server.closeAllConnections();
    server.close();

    // Loads `pg` itself.
    const other = postgresStore({ connectionString }, { schema });
    const { remembered } = await other.open(Date.now());
    await other.close(Date.now());

    const tool = ['node_modules/.bin/webhook-backpressure-postgres', 'status', '--schema', schema, '--json'];
    const status = JSON.parse(execFileSync(process.execPath, tool, { encoding: 'utf8' })) as {
      depth: number;
    };
    return {
      middleware: { key: 'shop-1', typed: remembered === 1, depth: status.depth },
      inbox: { ...delivered, typed: isInbox },
    };
  } finally {
    await pool.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  }
}

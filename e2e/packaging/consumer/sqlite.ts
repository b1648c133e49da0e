import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Inbox, InboxStore } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import type { Exactly } from './exactly.ts';
import { deliver } from './shop-inbox.ts';

export async function main(): Promise<unknown> {
  const path = `webhooks-${String(process.pid)}.db`;
  const store: InboxStore = sqliteStore({ path });
  await store.open(Date.now());
  const delivery = {
    key: 'shop-1',
    id: 'evt_1',
    isIdGenerated: false,
    sender: undefined,
    request: { method: 'POST', url: '/', params: {} },
    context: null,
    headers: {},
    sealedBy: undefined,
    fingerprint: undefined,
    rawBody: new Uint8Array(),
    receivedAtMs: Date.now(),
  };
  const limits = { capacity: 10, maxBytes: 10_000, maxDeadLetters: 10, maxDeadLetterBytes: 10_000 };
  await store.put([{ delivery, isOverflow: false }], { limits, nowMs: Date.now() });
  const [claimed] = await store.claim(1, {
    leaseMs: 1000,
    nowMs: Date.now(),
    maxStranded: 1,
    except: new Set(),
  });
  if (claimed === undefined) throw new Error('nothing was stored');
  await store.settle(
    [{ key: claimed.key, id: claimed.id, attempt: claimed.attempt, as: 'completed', keep: false }],
    Date.now(),
  );
  await store.close(Date.now());

  const webhooks = webhookInbox({
    store: sqliteStore({ path }),
    verify: ({ headers }) => headers['x-shop'] === 'shop-1',
    process: ({ json }) => json(),
  });
  const isInbox: Exactly<typeof webhooks.inbox, Inbox> = true;
  const server = createServer(webhooks).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const delivered = await deliver(webhooks.inbox, (delivery) =>
    fetch(`http://127.0.0.1:${String(port)}/`, delivery),
  );
  // The delivery above had the same id, and another key.
  const inbox = { ...delivered, typed: isInbox };
  server.closeAllConnections();
  server.close();

  const tool = ['node_modules/.bin/webhook-backpressure-sqlite', 'status', path, '--json'] as const;
  const status = JSON.parse(execFileSync(process.execPath, tool, { encoding: 'utf8' })) as { depth: number };
  return { middleware: { key: claimed.key, typed: true, depth: status.depth }, inbox };
}

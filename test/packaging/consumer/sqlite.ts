import { execFileSync } from 'node:child_process';
import type { InboxStore } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const path = 'webhooks.db';
const store: InboxStore = sqliteStore({ path });
await store.open(Date.now());
const delivery = {
  key: 'shop-1',
  id: 'evt_1',
  isIdGenerated: false,
  sender: undefined,
  headers: {},
  rawBody: new Uint8Array(),
  receivedAtMs: Date.now(),
};
const limits = { capacity: 10, maxBytes: 10_000 };
await store.put([{ delivery, isOverflow: false }], { limits, nowMs: Date.now() });
const [claimed] = await store.claim(1, { leaseMs: 1000, nowMs: Date.now(), isStrandedAllowed: true });
if (claimed === undefined) throw new Error('nothing was stored');
await store.settle(
  [{ key: claimed.key, id: claimed.id, attempt: claimed.attempt, as: 'completed' }],
  Date.now(),
);
await store.close(Date.now());

const tool = ['node_modules/.bin/webhook-backpressure-sqlite', 'status', path, '--json'] as const;
const status = JSON.parse(execFileSync(process.execPath, tool, { encoding: 'utf8' })) as { depth: number };
console.log(JSON.stringify({ key: claimed.key, typed: true, depth: status.depth }));

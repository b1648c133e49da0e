import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { createInbox, type Inbox, type InboxAnswer, type InboxEvent } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Threads } from './threads.ts';

const DELIVERIES = 400;
const SENDERS = 16;
const BODY = new Uint8Array(20_000).fill(7);

let threads: Threads;
beforeEach(() => {
  threads = new Threads();
});
afterEach(() => threads.dispose());

function send(inbox: Inbox, id: string): Promise<InboxAnswer | null> {
  return inbox.receive({
    headers: { 'webhook-id': id },
    hint: '',
    read: (sink) => {
      sink.add(BODY);
      return Promise.resolve('whole');
    },
  });
}

/** Retries until the delivery is acknowledged, as a sender does. */
async function deliver(inbox: Inbox, id: string): Promise<void> {
  for (;;) {
    const answer = await send(inbox, id);
    if (answer !== null && answer.status < 300) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it('handles each delivery once in an inbox whose thread dies repeatedly', async () => {
  const handled = new Map<string, number>();
  const store = threads.store();
  const inbox = createInbox({
    store,
    concurrency: 5,
    verify: ({ rawBody }) => rawBody.byteLength === BODY.byteLength,
    process: async ({ id, rawBody }) => {
      if (Buffer.compare(rawBody, BODY) !== 0) throw new Error('another body');
      handled.set(id, (handled.get(id) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
  });
  const events: InboxEvent[] = [];
  inbox.subscribe((event) => events.push(event));
  const ids = Array.from({ length: DELIVERIES }, (_, at) => String(at));
  let next = 0;
  const senders = Array.from({ length: SENDERS }, async () => {
    for (let at = (next += 1) - 1; at < ids.length; at = (next += 1) - 1) {
      await deliver(inbox, String(ids[at]));
      if (at % 100 === 50) void threads.crash();
    }
  });
  await Promise.all(senders);
  await vi.waitFor(
    () => {
      expect(handled.size).toBe(DELIVERIES);
      expect(inbox.snapshot().active).toBe(0);
    },
    { timeout: 30_000 },
  );
  expect(threads.started.length).toBeGreaterThan(2);
  expect(new Set(handled.values())).toEqual(new Set([1]));
  expect(events.filter(({ type }) => type === 'failed' || type === 'dead')).toEqual([]);
  const [thread] = threads.started.slice(-1) as [Worker];
  const exit = once(thread, 'exit');
  expect(await inbox.close()).toMatchObject({ remaining: 0 });
  await exit;

  const left = sqliteStore({ path: threads.scratch.file(), thread: false });
  expect(await left.open(Date.now())).toMatchObject({ depth: 0, inFlight: 0, remembered: DELIVERIES });
  await left.close(Date.now());
}, 60_000);

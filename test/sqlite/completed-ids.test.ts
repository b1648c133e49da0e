import { statSync } from 'node:fs';
import type { InboxStore } from '@webhook-backpressure/inbox';
import Database from 'libsql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  claim,
  delivery,
  ends,
  opened,
  put,
  ROOMY,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let file: string;
beforeEach(() => {
  scratch = new Scratch();
  file = scratch.file();
});
afterEach(() => {
  scratch.dispose();
});

const bed = () => scratch.bed();

async function complete(store: InboxStore, ids: readonly string[], nowMs: number): Promise<void> {
  const ones = ids.map((id) => delivery(id, { rawBody: new Uint8Array() }));
  await put(store, ones, { nowMs, limits: ROOMY });
  const claimed = await claim(store, ids.length, { nowMs });
  await store.settle(claimed.map(ends.completed), nowMs);
}

function numberIn(sql: string): number {
  const database = new Database(file);
  try {
    const [value] = database.prepare(sql).raw().get([]) as [number];
    return value;
  } finally {
    database.close();
  }
}

it('takes less than 60 bytes of the file for an id of any length', async () => {
  const store = await opened(bed());
  const before = statSync(file).size;
  const count = 5000;
  for (let at = 0; at < count; at += 500) {
    const ids = Array.from({ length: 500 }, (_, of) => `${String(at + of)} ${'x'.repeat(240)}`);
    await complete(store, ids, START + at);
    await store.forget({ beforeMs: 0, keep: count, limit: 1, nowMs: START + at });
  }
  expect(await store.stats()).toMatchObject({ remembered: count });
  await store.close(START);
  // The pages of the deliveries are free again.
  const free = numberIn('SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size');
  expect((statSync(file).size - before - free) / count).toBeLessThan(60);
}, 60_000);

it('uses about ten buckets, and empties all of them', async () => {
  const store = await opened(bed());
  const hour = 3_600_000;
  const at = (hours: number): number => START + hours * hour;
  for (let hours = 0; hours < 200; hours += 1) {
    await complete(store, [String(hours)], at(hours));
    await store.forget({ beforeMs: at(hours - 48), keep: 1000, limit: 1000, nowMs: at(hours) });
    if (hours % 10 === 0) expect(numberIn('SELECT count(*) FROM buckets')).toBeLessThanOrEqual(11);
  }
  const { remembered } = await store.stats();
  const all = { beforeMs: at(900), keep: 1000, limit: 1000, nowMs: at(900) };
  expect(await store.forget(all)).toBe(remembered);
  expect(await store.stats()).toMatchObject({ remembered: 0 });
  expect(numberIn('SELECT count(*) FROM remembered')).toBe(0);
  await store.close(START);
});

it('forgets across buckets when one ends at the limit of a call', async () => {
  const store = await opened(bed());
  for (let at = 0; at < 40; at += 1) {
    await complete(store, [`${String(at)} a`, `${String(at)} b`], START + at);
    await store.forget({ beforeMs: 0, keep: 16, limit: 1000, nowMs: START + at });
  }
  const { remembered } = await store.stats();
  const nowMs = START + 99;
  let forgotten = 0;
  for (let part = 2; part === 2;) {
    part = await store.forget({ beforeMs: nowMs, keep: 0, limit: 2, nowMs });
    forgotten += part;
  }
  expect(forgotten).toBe(remembered);
  await store.close(START);
});

it('redrives deliveries without rewriting their bodies', async () => {
  const store = await opened(bed());
  const rawBody = new Uint8Array(1 << 20);
  const ones = Array.from({ length: 20 }, (_, at) => delivery(String(at), { rawBody }));
  await put(store, ones, { isOverflow: true });
  await store.close(START);
  const next = await opened(bed());
  const back = await next.redrive(null, { limit: 20, maxBytes: 1 << 30, nowMs: START });
  expect(back).toHaveLength(20);
  // The -wal file has every page written since the start. A body alone has 256 pages.
  expect(statSync(`${file}-wal`).size).toBeLessThan(200_000);
  await next.close(START);
});

import { readFileSync, writeFileSync } from 'node:fs';
import type { ClaimedDelivery, InboxStore } from '@webhook-backpressure/inbox';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import {
  ANY,
  claim,
  delivery,
  ends,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from './scratch.ts';

const PAGE = 4096;
const COUNT = 30;

let scratch: Scratch;

beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const bed = () => scratch.bed({ busyTimeoutMs: 0 });
const idAt = (at: number): string => `evt-${String(at).padStart(2, '0')}`;
/** Several bodies share a page; the large one has its own pages. */
const bodyOf = (id: string): Buffer => Buffer.from(`body of ${id}. `.repeat(id === 'large' ? 2000 : 40));

/** Stores deliveries, and overwrites the page that `choose` returns. */
async function damaged(choose: (file: Buffer, database: Database.Database) => number): Promise<InboxStore> {
  const store = await opened(bed());
  const ids = Array.from({ length: COUNT }, (_, at) => idAt(at));
  ids.splice(COUNT / 2, 0, 'large');
  for (const id of ids) await put(store, [delivery(id, { rawBody: bodyOf(id) })]);
  await store.close(START);
  const file = readFileSync(scratch.file());
  const database = new Database(scratch.file(), { readonly: true });
  const page = choose(file, database);
  database.close();
  file.fill(0xaa, page * PAGE, (page + 1) * PAGE);
  writeFileSync(scratch.file(), file);
  return await opened(bed());
}

const pageOf = (text: string) => (file: Buffer) => Math.floor(file.indexOf(text) / PAGE);
const rootOf = (name: string) => (_: Buffer, database: Database.Database) => {
  const row = database.prepare<[string]>('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name);
  return (row as { rootpage: number }).rootpage - 1;
};

type Claim = (store: InboxStore) => Promise<readonly ClaimedDelivery[]>;

const byKey =
  (isHeadOnly: boolean): Claim =>
  async (store) => {
    const wants = [{ key: 'shop', count: 7, isHeadOnly }];
    const [got] = await store.claimKeys(wants, { leaseMs: LEASE, nowMs: START });
    return got?.claimed ?? [];
  };

/** Claims and completes all deliveries, in several calls as workers do. */
async function drain(
  store: InboxStore,
  claimSome: Claim = (from) => claim(from, 7),
): Promise<readonly string[]> {
  const done: string[] = [];
  for (let at = 0; at < 2 * COUNT; at += 1) {
    const claimed = await claimSome(store);
    for (const one of claimed) {
      expect(Buffer.from(one.rawBody).equals(bodyOf(one.id)), one.id).toBe(true);
      expect(await settle(store, ends.completed(one))).toBe(true);
      done.push(one.id);
    }
  }
  return done;
}

describe('a damaged page', () => {
  it('of several deliveries moves only these to the dead-letter queue', async () => {
    const store = await damaged(pageOf(`body of ${idAt(10)}`));
    const done = await drain(store);
    const deadLetters = await store.listDeadLetters({ limit: 99, offset: 0 });
    expect(done.length + deadLetters.length).toBe(COUNT + 1);
    expect(deadLetters.length).toBeGreaterThan(0);
    expect(deadLetters.length).toBeLessThan(10);
    expect(done).not.toContain(idAt(10));
    expect(deadLetters.some(({ error }) => error.includes(`"${idAt(10)}"`))).toBe(true);
    expect(await store.stats()).toMatchObject({
      depth: 0,
      inFlight: 0,
      bytes: 0,
      deadLetters: deadLetters.length,
    });
    // New deliveries are processed.
    expect(await put(store, [delivery('new', { rawBody: bodyOf('new') })])).toEqual(['stored']);
    expect(await drain(store)).toEqual(['new']);
    // The dead letters can be shown, redriven and purged.
    expect(await store.getDeadLetter(deadLetters[0]?.id ?? '', {})).toBeDefined();
    await store.redrive(null, { ...ANY, nowMs: START });
    expect(await drain(store)).toEqual([]);
    expect(await store.purge(null, ANY)).toHaveLength(deadLetters.length);
    await store.close(START);
  });

  it.each([
    ['named keys', false],
    ['heads', true],
  ])('of several deliveries moves only these when %s are claimed', async (_, isHeadOnly) => {
    const store = await damaged(pageOf(`body of ${idAt(10)}`));
    const done = await drain(store, byKey(isHeadOnly));
    const deadLetters = await store.listDeadLetters({ limit: 99, offset: 0 });
    expect(done.length + deadLetters.length).toBe(COUNT + 1);
    expect(deadLetters.length).toBeGreaterThan(0);
    expect(deadLetters.length).toBeLessThan(10);
    expect(await store.stats()).toMatchObject({
      depth: 0,
      inFlight: 0,
      bytes: 0,
      deadLetters: deadLetters.length,
    });
    await store.close(START);
  });

  it('of a large body moves only its delivery to the dead-letter queue', async () => {
    const store = await damaged((file) =>
      Math.floor(file.indexOf('body of large', file.indexOf('body of large') + 3 * PAGE) / PAGE),
    );
    const done = await drain(store);
    expect(done).toHaveLength(COUNT);
    const deadLetters = await store.listDeadLetters({ limit: 99, offset: 0 });
    expect(deadLetters).toHaveLength(1);
    expect(deadLetters[0]?.error).toContain('"large"');
    expect(await store.stats()).toMatchObject({ depth: 0, bytes: 0, deadLetters: 1 });
    await store.close(START);
  });

  it('of the ids lets claims be settled', async () => {
    const store = await damaged(rootOf('sqlite_autoindex_contents_1'));
    expect(await drain(store)).toHaveLength(COUNT + 1);
    expect(await store.stats()).toMatchObject({ depth: 0, inFlight: 0, bytes: 0, deadLetters: 0 });
    // Duplicates cannot be detected.
    await expect(async () => put(store, [delivery('new')])).rejects.toThrow('ERR_WBP_SQLITE_DAMAGED');
    await store.close(START);
  });

  it.each(['queue_ready', 'queue_retries', 'queue_held', 'queue', 'totals', 'contents'])(
    'of %s makes the inbox refuse deliveries that could not be handled',
    async (name) => {
      try {
        await (await damaged(rootOf(name))).close(START);
      } catch (error) {
        // The start has detected it.
        expect(String(error)).toContain('ERR_WBP_SQLITE_DAMAGED');
        return;
      }
      const bench = new InboxBench({ store: bed().store() });
      for (let at = 0; at < 40; at += 1) await bench.advance(1000);
      expect((await bench.deliver('new')).status).toBe(503);
    },
  );
});

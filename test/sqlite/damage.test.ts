import { readFileSync, writeFileSync } from 'node:fs';
import type { ClaimedDelivery, InboxStore } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import {
  ANY,
  claim,
  delivery,
  ends,
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

const bed = {
  store: () => sqliteStore({ path: scratch.file(), busyTimeoutMs: 0 }),
  dispose: () => undefined,
};
const idAt = (at: number): string => `evt-${String(at).padStart(2, '0')}`;
/** Several of them share a page; the large one has pages of its own. */
const bodyOf = (id: string): Buffer => Buffer.from(`body of ${id}. `.repeat(id === 'large' ? 2000 : 40));

/** A file with deliveries, in which `choose` has said which page is overwritten. */
async function damaged(choose: (file: Buffer, database: Database.Database) => number): Promise<InboxStore> {
  const store = await opened(bed);
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
  return await opened(bed);
}

const pageOf = (text: string) => (file: Buffer) => Math.floor(file.indexOf(text) / PAGE);
const rootOf = (name: string) => (_: Buffer, database: Database.Database) => {
  const row = database.prepare<[string]>('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name);
  return (row as { rootpage: number }).rootpage - 1;
};

/** Claims and completes until there is nothing more, in several calls as workers do. */
async function workOff(store: InboxStore): Promise<readonly string[]> {
  const done: string[] = [];
  for (let at = 0; at < 20; at += 1) {
    const claimed: readonly ClaimedDelivery[] = await claim(store, 7);
    for (const one of claimed) {
      expect(Buffer.from(one.rawBody).equals(bodyOf(one.id)), one.id).toBe(true);
      expect(await settle(store, ends.completed(one))).toBe(true);
      done.push(one.id);
    }
  }
  return done;
}

describe('a damaged page', () => {
  it('of several deliveries buries them alone, and the others are handled to the end', async () => {
    const store = await damaged(pageOf(`body of ${idAt(10)}`));
    const done = await workOff(store);
    const shelved = await store.listShelved({ limit: 99, offset: 0 });
    expect(done.length + shelved.length).toBe(COUNT + 1);
    expect(shelved.length).toBeGreaterThan(0);
    expect(shelved.length).toBeLessThan(10);
    expect(done).not.toContain(idAt(10));
    expect(shelved.some(({ error }) => error.includes(`"${idAt(10)}"`))).toBe(true);
    expect(await store.stats()).toMatchObject({ depth: 0, inFlight: 0, bytes: 0, shelved: shelved.length });
    // New ones come and go.
    expect(await put(store, [delivery('new', { rawBody: bodyOf('new') })])).toEqual(['stored']);
    expect(await workOff(store)).toEqual(['new']);
    // And the shelf can be looked at, given back and cleared.
    expect(await store.getShelved(shelved[0]?.id ?? '', {})).toBeDefined();
    await store.redrive(null, { ...ANY, nowMs: START });
    expect(await workOff(store)).toEqual([]);
    expect(await store.purge(null, ANY)).toHaveLength(shelved.length);
    await store.close(START);
  });

  it('of a large body buries that delivery alone', async () => {
    const store = await damaged((file) =>
      Math.floor(file.indexOf('body of large', file.indexOf('body of large') + 3 * PAGE) / PAGE),
    );
    const done = await workOff(store);
    expect(done).toHaveLength(COUNT);
    const shelved = await store.listShelved({ limit: 99, offset: 0 });
    expect(shelved).toHaveLength(1);
    expect(shelved[0]?.error).toContain('"large"');
    expect(await store.stats()).toMatchObject({ depth: 0, bytes: 0, shelved: 1 });
    await store.close(START);
  });

  it('of the ids lets what is claimed be ended all the same', async () => {
    const store = await damaged(rootOf('sqlite_autoindex_contents_1'));
    expect(await workOff(store)).toHaveLength(COUNT + 1);
    expect(await store.stats()).toMatchObject({ depth: 0, inFlight: 0, bytes: 0, shelved: 0 });
    // Whether an id is known cannot be told any more.
    await expect(async () => put(store, [delivery('new')])).rejects.toThrow('ERR_WBP_SQLITE_DAMAGED');
    await store.close(START);
  });

  it.each(['queue_ready', 'queue_due', 'queue', 'totals', 'contents'])(
    'of %s stops what could not be handled from being acknowledged',
    async (name) => {
      try {
        await (await damaged(rootOf(name))).close(START);
      } catch (error) {
        // A start that finds it is refused.
        expect(String(error)).toContain('ERR_WBP_SQLITE_DAMAGED');
        return;
      }
      const bench = new InboxBench({ store: bed.store() });
      for (let at = 0; at < 40; at += 1) await bench.advance(1000);
      expect((await bench.deliver('new')).status).toBe(503);
    },
  );
});

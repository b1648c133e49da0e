import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Connection } from '../../packages/sqlite/src/file/connection.ts';
import {
  claimOne,
  delivery,
  ends,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from './scratch.ts';

/** As `PRAGMA synchronous` numbers them. */
const FULL = 2;

let scratch: Scratch;
/** What each commit since then has waited for. */
let commits: unknown[];

beforeEach(() => {
  scratch = new Scratch();
  commits = [];
  const transaction = Reflect.get(Connection.prototype, 'transaction');
  vi.spyOn(Connection.prototype, 'transaction').mockImplementation(function (this: Connection, work) {
    return transaction.call(this, () => {
      commits.push((this.prepare('PRAGMA synchronous').get([]) as [number])[0]);
      return work();
    });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  scratch.dispose();
});

const bed = { store: () => sqliteStore({ path: scratch.file() }), dispose: () => undefined };

it('waits for the disk with every commit, also with those that could be forgotten', async () => {
  const store = await opened(bed);
  const waitedFor = async (call: () => unknown): Promise<unknown[]> => {
    commits = [];
    await call();
    return commits;
  };
  expect(await waitedFor(() => put(store, [delivery('a'), delivery('b')]))).toEqual([FULL]);
  const [a, b] = [await claimOne(store), await claimOne(store)];
  expect(await waitedFor(() => store.renew([a, b], { leaseMs: LEASE, nowMs: START }))).toEqual([FULL]);
  expect(await waitedFor(() => settle(store, ends.completed(a)))).toEqual([FULL]);
  expect(await waitedFor(() => settle(store, ends.dead(b)))).toEqual([FULL]);
  expect(await waitedFor(() => store.redrive(null, { limit: 9, maxBytes: 9999, nowMs: START }))).toEqual([
    FULL,
  ]);
  expect(await waitedFor(() => claimOne(store))).toEqual([FULL]);
  expect(await waitedFor(() => put(store, [delivery('c')]))).toEqual([FULL]);
});

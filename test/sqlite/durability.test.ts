import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
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

/** The value of `PRAGMA synchronous`. */
const FULL = 2;

let scratch: Scratch;
/** The value in each commit. */
let commits: unknown[];

beforeEach(() => {
  scratch = new Scratch();
  commits = [];
  const transaction = Reflect.get(Connection.prototype, 'transaction');
  vi.spyOn(Connection.prototype, 'transaction').mockImplementation(function (this: Connection, work) {
    return transaction.call(this, () => {
      commits.push((this.get('PRAGMA synchronous') as [number])[0]);
      return work();
    });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  scratch.dispose();
});

it('waits for the disk in every commit, also for claims and renewals', async () => {
  const store = await opened(scratch.bed());
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

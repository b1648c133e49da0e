import { BackpressureError } from '@webhook-backpressure/base';
import type { PutResult } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
import { settle } from '../../packages/sqlite/src/options.ts';
import { fileStore, type FileStore } from '../../packages/sqlite/src/store/file-store.ts';
import { delivery, LEASE, ROOMY, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram } from './broken-files.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let store: FileStore;

function open(maxFileBytes?: number): void {
  store = fileStore(settle({ path: scratch.file(), busyTimeoutMs: 0, maxFileBytes }));
  void store.open(START);
}

beforeEach(() => {
  scratch = new Scratch();
  open();
});
afterEach(() => {
  void store.close(START);
  vi.restoreAllMocks();
  scratch.dispose();
});

const put =
  (id: string, bytes = 10) =>
  (): unknown =>
    store.put([{ delivery: delivery(id, { rawBody: new Uint8Array(bytes) }), isOverflow: false }], {
      limits: ROOMY,
      nowMs: START,
    });
const claim = (): unknown =>
  store.claim(9, { leaseMs: LEASE, nowMs: START, maxStranded: 1, except: new Set() });
const stored: readonly PutResult[] = ['stored'];

it('runs several calls in one commit, and rolls a failed one back alone', () => {
  const transactions = vi.spyOn(Connection.prototype, 'transaction');
  const outcomes = store.together([
    put('a'),
    put('b'),
    () => store.put([{} as never], { limits: ROOMY, nowMs: START }),
    claim,
  ]);
  expect(outcomes[0]).toEqual({ result: stored });
  expect(outcomes[1]).toEqual({ result: stored });
  expect(outcomes[2]).toHaveProperty('error');
  expect(outcomes[3]).toMatchObject({ result: [{ id: 'a' }, { id: 'b' }] });
  expect(store.stats()).toMatchObject({ depth: 2, inFlight: 2 });
  // The commit, and a savepoint for each call.
  expect(transactions.mock.results.filter(({ type }) => type === 'return').length).toBeLessThanOrEqual(4);
});

it('runs the calls that fit when the file is full', () => {
  void store.close(START);
  open(512 * 1024);
  const outcomes = store.together([put('a'), put('too large', 1024 * 1024), put('b'), claim]);
  expect(outcomes.map((outcome) => 'result' in outcome)).toEqual([true, false, true, true]);
  expect(store.stats()).toMatchObject({ depth: 2, inFlight: 2 });
});

it('fails all calls when the file is locked', () => {
  const other = anotherProgram(scratch.file());
  other.exec('BEGIN IMMEDIATE');
  for (const outcome of store.together([put('a'), put('b')])) {
    expect('error' in outcome && (outcome.error as BackpressureError).code).toBe('ERR_WBP_SQLITE_LOCKED');
  }
  other.exec('ROLLBACK');
  other.close();
  expect(store.stats()).toMatchObject({ depth: 0 });
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { START } from '../core/inbox/store/cases/store-words.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

/** Runs the program to its end; it ends by itself, or the test fails by its timeout. */
function run(end: string): Promise<{ code: number; out: string; err: string }> {
  const program = join(import.meta.dirname, 'children/idle.js');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, scratch.file(), end], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

it.each([
  ['has nothing left to do', 'idle'],
  ['has closed its inbox, and waited for that', 'close'],
  ['exits', 'exit'],
])('a process with a thread ends when it %s, and keeps what was acknowledged', async (_, end) => {
  expect(await run(end)).toEqual({ code: 0, out: '202\n', err: '' });
  const store = sqliteStore({ path: scratch.file(), thread: false });
  expect(await store.open(START)).toMatchObject({ depth: 1, inFlight: 0 });
  const [claimed] = await store.claim(1, {
    leaseMs: 1000,
    nowMs: Date.now(),
    maxStranded: 1,
    except: new Set(),
  });
  // Only what was closed has given back what it had in hand; the others may have had it, or not yet.
  expect(claimed).toMatchObject(end === 'close' ? { id: 'a', attempt: 1, strandings: 0 } : { id: 'a' });
  await store.close(START);
});

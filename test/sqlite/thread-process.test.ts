import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { START } from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const children = join(import.meta.dirname, 'children');

/** Runs Node until it exits by itself; otherwise the test times out. */
function run(args: readonly string[], program = ''): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...args], { cwd: children }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin?.end(program);
  });
}

const ENDED = { code: 0, out: '200\n', err: '' };

describe('a process whose store has a thread', () => {
  it.each([
    ['has nothing left to do', 'idle'],
    ['has closed its inbox', 'close'],
    ['calls process.exit', 'exit'],
  ])('exits when it %s, and keeps what it acknowledged', async (_, end) => {
    expect(await run(['idle.js', scratch.file(), end])).toEqual(ENDED);
    const store = sqliteStore({ path: scratch.file(), thread: false });
    expect(await store.open(START)).toMatchObject({ depth: 1, inFlight: 0 });
    const [claimed] = await store.claim(1, {
      leaseMs: 1000,
      nowMs: Date.now(),
      maxStranded: 1,
      except: new Set(),
    });
    // Only a closed inbox has returned its claim. In the other cases the delivery may have been claimed or not.
    expect(claimed).toMatchObject(end === 'close' ? { id: 'a', attempt: 1, strandings: 0 } : { id: 'a' });
    await store.close(START);
  });

  it('stores deliveries when its program is read from standard input', async () => {
    const program = readFileSync(join(children, 'idle.js'), 'utf8');
    expect(await run(['--input-type=module', '-', scratch.file(), 'close'], program)).toEqual(ENDED);
  });
});

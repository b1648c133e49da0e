import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { delivery, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from '../sqlite/scratch.ts';
import { Shim } from './power-failures.ts';

/** Added to each sync. */
const SYNC_MS = 50;
const SENDERS = 16;
/** `npm run test:power` sends more. */
const IS_LONG = process.env['POWER_CUTS'] !== undefined;
const EACH = IS_LONG ? 40 : 8;
const STARTS = IS_LONG ? 30 : 6;

const { obstacle } = Shim;
let shim: Shim | undefined;
let scratch: Scratch;

beforeAll(() => {
  if (obstacle === undefined) shim = new Shim();
});
afterAll(() => {
  shim?.dispose();
});
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

/** The report of a receiver. */
interface Said {
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

/** A receiver with its own senders, in its own process. Undefined when it could not start. */
async function receive(
  name: string,
  each: number,
  where: 'main' | 'thread' = 'thread',
): Promise<Said | undefined> {
  const path = scratch.file();
  const script = join(import.meta.dirname, 'children/neighbour.js');
  const env = (shim as Shim).environment(path, '', { syncMs: SYNC_MS });
  const child = spawn(process.execPath, [script, path, name, String(SENDERS), String(each), where], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return said === '' ? undefined : (JSON.parse(said) as Said);
}

/** Expects that all deliveries were accepted, and that no call of the store met a lock. */
function expectAll(said: Said | undefined, each: number): void {
  expect(said?.answers).toEqual({ 200: SENDERS * each });
  expect(Object.keys(said?.failures ?? {}).filter((why) => why.includes('LOCKED'))).toEqual([]);
}

describe.skipIf(obstacle !== undefined)(
  `one file on a slow disk${obstacle === undefined ? '' : `: ${obstacle}`}`,
  () => {
    it.each([2, 3])(
      'serves %i processes without a refusal',
      async (processes) => {
        const names = Array.from({ length: processes }, (_, at) => `p${String(at)}`);
        const said = await Promise.all(names.map((name) => receive(name, EACH)));
        if (IS_LONG) console.log(JSON.stringify(said));
        for (const one of said) expectAll(one, EACH);
      },
      120_000,
    );

    it('serves a rolling deploy: every start succeeds, and no delivery is refused', async () => {
      let started = 0;
      const outcomes: (Said | undefined)[] = [];
      const replace = async (): Promise<void> => {
        while (started < STARTS) {
          const name = `s${String((started += 1))}`;
          outcomes.push(await receive(name, 3));
        }
      };
      await Promise.all([replace(), replace(), replace()]);
      if (IS_LONG) console.log(JSON.stringify(outcomes));
      expect(outcomes).toHaveLength(STARTS);
      for (const one of outcomes) expectAll(one, 3);
    }, 300_000);

    it('can be vacuumed without a refusal', async () => {
      const store = sqliteStore({ path: scratch.file() });
      await store.open(START);
      const rawBody = new Uint8Array(200_000).fill(1);
      const limits = { capacity: 1e6, maxBytes: 2 ** 40, maxDeadLetters: 1e6, maxDeadLetterBytes: 2 ** 40 };
      for (let at = 0; at < 500; at += 1)
        await put(store, [delivery(`large ${String(at)}`, { rawBody })], { limits, isOverflow: true });
      await store.close(START);
      const receiving = receive('p', EACH * 3);
      const operator = new Database(scratch.file(), { timeout: 60_000 });
      const owners = operator.prepare<[]>('SELECT count(*) FROM owners').raw();
      const isOpen = (): boolean => (owners.get() as [number])[0] > 0;
      while (!isOpen()) await new Promise((resolve) => setImmediate(resolve));
      const beganAt = performance.now();
      operator.exec('VACUUM');
      const tookMs = performance.now() - beganAt;
      operator.close();
      const said = await receiving;
      if (IS_LONG) console.log(tookMs, JSON.stringify(said));
      expectAll(said, EACH * 3);
    }, 120_000);
  },
);

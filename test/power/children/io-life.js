// Lives of a SQLite store in which one disk operation after the other fails, through `disk-shim.c`, each with a new file.
// Prints a line of JSON for each life that ended otherwise than it should, and then the number of lives.
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { StoreLife } from './store-life.js';

const [folder = '', state = '', errno = '5', stride = '1'] = process.argv.slice(2);
/** In `struct shared`. */
const OPERATIONS_AT = 48;

const shared = openSync(state, 'r+');

/** @param {number} number - the operation that fails; 0 for none. */
const failAt = (number) => {
  const values = BigUint64Array.of(0n, BigInt(number), BigInt(errno));
  writeSync(shared, new Uint8Array(values.buffer), 0, 24, OPERATIONS_AT);
};
const operations = () => {
  const value = new BigUint64Array(1);
  readSync(shared, new Uint8Array(value.buffer), 0, 8, OPERATIONS_AT);
  return Number(value[0]);
};

let failing = 0;
let lives = 0;
let isOver = false;
for (let at = 1; !isOver; at += Number(stride)) {
  lives += 1;
  // A connection that could not be closed may still delete the -wal of its file, so each life has its own.
  mkdirSync(join(folder, String(at)));
  const path = join(folder, String(at), 'webhooks.db');
  const life = new StoreLife(() => sqliteStore({ path, thread: false }));
  try {
    failAt(at);
    await life.use();
    // No operation has failed any more.
    isOver = operations() < at;
    failAt(0);
    await life.empty();
    for (const problem of await life.problems())
      console.log(JSON.stringify({ at, problem, failures: life.failures }));
    await life.opened.close(life.nowMs);
  } catch (error) {
    failAt(0);
    console.log(JSON.stringify({ at, problem: String(error), failures: life.failures }));
  }
  if (life.failures.length > 0) failing += 1;
}
closeSync(shared);
console.log(JSON.stringify({ lives, failing }));

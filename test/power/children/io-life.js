// Lives of a store in which one disk operation after the other fails, through `disk-shim.c`: each life opens a new file,
// puts, claims, settles, redrives and closes, repeats what has failed, and then empties the store without failures. Prints a
// line of JSON for each life that ended otherwise than it should, and then the number of lives.
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [folder = '', state = '', errno = '5', stride = '1'] = process.argv.slice(2);
const limits = {
  capacity: 1_000_000,
  maxBytes: 2 ** 40,
  maxDeadLetters: 1_000_000,
  maxDeadLetterBytes: 2 ** 40,
};
const START_MS = 1_800_000_000_000;
const LEASE_MS = 30_000;
/** More failures of one call have another cause. */
const TRIES = 5;
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

/** @param {string} id */
const put = (id) => ({
  delivery: {
    id,
    key: `key-${id.slice(-1)}`,
    isIdGenerated: false,
    sender: undefined,
    request: { method: 'POST', url: '/', params: {} },
    context: null,
    headers: {},
    rawBody: new Uint8Array(2000),
    receivedAtMs: START_MS,
    sealedBy: undefined,
    fingerprint: undefined,
  },
  isOverflow: false,
});

class Life {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  nowMs = START_MS;
  /** @type {Set<string>} */
  acknowledged = new Set();
  /** How often each delivery was settled as completed, as the store has confirmed. @type {Map<string, number>} */
  completed = new Map();
  /** @type {string[]} */
  failures = [];
  /** @type {import('@webhook-backpressure/inbox').InboxStore | undefined} */
  store;

  /**
   * Repeats a call that fails.
   *
   * @template T
   * @param {string} what
   * @param {() => T | PromiseLike<T>} call
   * @returns {Promise<T>}
   */
  async repeat(what, call) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        this.failures.push(`${what}: ${String(error)}`);
        if (tries === TRIES)
          throw new Error(`${what} failed ${String(TRIES)} times: ${String(error)}`, { cause: error });
      }
    }
  }

  /** A store that did not open is closed, and another one opened, as an inbox does. */
  async open() {
    await this.repeat('open', async () => {
      this.store = sqliteStore({ path: this.path, thread: false });
      await this.store.open(this.nowMs);
    });
  }

  get opened() {
    if (this.store === undefined) throw new Error('The store is not open.');
    return this.store;
  }

  async puts() {
    for (const ids of [['a1', 'a2'], ['b1'], ['b2', 'c1', 'c2'], ['a1']]) {
      const options = { limits, nowMs: this.nowMs };
      const results = await this.repeat('put', () => this.opened.put(ids.map(put), options));
      for (const [at, id] of ids.entries())
        if (results[at] === 'stored' || results[at] === 'duplicate') this.acknowledged.add(id);
    }
  }

  /** @param {number} count */
  async claim(count) {
    const options = { leaseMs: LEASE_MS, nowMs: this.nowMs, maxStranded: 9, except: new Set() };
    return await this.repeat('claim', () => this.opened.claim(count, options));
  }

  /**
   * @param {readonly import('@webhook-backpressure/inbox').ClaimRef[]} refs
   * @param {'completed' | 'dead'} as
   */
  async settle(refs, as) {
    const ends = refs.map(({ key, id, attempt }) =>
      as === 'dead' ? { key, id, attempt, as, error: 'x' } : { key, id, attempt, as, keep: false },
    );
    const held = await this.repeat('settle', () =>
      this.opened.settle(/** @type {never} */ (ends), this.nowMs),
    );
    for (const [at, { id }] of refs.entries())
      if (as === 'completed' && held[at] === true) this.completed.set(id, (this.completed.get(id) ?? 0) + 1);
  }

  async use() {
    await this.open();
    await this.puts();
    const claimed = await this.claim(3);
    await this.settle(claimed.slice(0, 1), 'dead');
    await this.settle(claimed.slice(1), 'completed');
    await this.repeat('redrive', () =>
      this.opened.redrive(null, { limit: 99, maxBytes: 2 ** 40, nowMs: this.nowMs }),
    );
    try {
      await this.opened.close(this.nowMs);
    } catch (error) {
      // It is closed nevertheless.
      this.failures.push(`close: ${String(error)}`);
    }
  }

  async empty() {
    await this.open();
    for (let rounds = 0; rounds < 20; rounds += 1) {
      // Claims whose answer was lost are free when their lease ends.
      this.nowMs += 2 * LEASE_MS;
      const claimed = await this.claim(99);
      if (claimed.length > 0) await this.settle(claimed, 'completed');
      const { depth, inFlight } = await this.opened.stats();
      if (depth === 0 && inFlight === 0) break;
    }
  }
}

const report = (/** @type {number} */ at, /** @type {Life} */ life, /** @type {string} */ problem) => {
  console.log(JSON.stringify({ at, problem, failures: life.failures }));
};

let failing = 0;
let at = 1 - Number(stride);
let lives = 0;
for (let isOver = false; !isOver;) {
  at += Number(stride);
  lives += 1;
  // A connection that could not be closed may still delete the -wal of its file, so each life has its own.
  mkdirSync(join(folder, String(at)));
  const life = new Life(join(folder, String(at), 'webhooks.db'));
  try {
    failAt(at);
    await life.use();
    // No operation has failed any more.
    isOver = operations() < at;
    failAt(0);
    await life.empty();
    const stats = await life.opened.stats();
    if (stats.depth !== 0 || stats.inFlight !== 0) report(at, life, `left: ${JSON.stringify(stats)}`);
    for (const id of life.acknowledged)
      if (!life.completed.has(id)) report(at, life, `${id} was acknowledged, and never completed`);
    for (const [id, times] of life.completed)
      if (times > 1) report(at, life, `${id} was completed ${String(times)} times`);
    if (life.acknowledged.size !== 6) report(at, life, `acknowledged ${String(life.acknowledged.size)} of 6`);
    if (life.failures.length > 0) failing += 1;
    await life.opened.close(life.nowMs);
  } catch (error) {
    failAt(0);
    report(at, life, String(error));
    if (at > 5000) isOver = true;
  }
}
closeSync(shared);
console.log(JSON.stringify({ lives, failing }));

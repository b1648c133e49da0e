// A life of a store: opens, puts, claims, settles, redrives and closes, and repeats what fails, as an inbox does.
import { checkHistory } from '@webhook-backpressure/core/testing';

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

export class StoreLife {
  /** @param {() => import('@webhook-backpressure/inbox').InboxStore} create - another store of the same deliveries. */
  constructor(create) {
    this.create = create;
  }

  nowMs = START_MS;
  /** The answers of the store. @type {import('@webhook-backpressure/core/testing').HistoryEvent[]} */
  history = [];
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
      this.store = this.create();
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
        this.history.push({ type: String(results[at]), atMs: this.nowMs, id });
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
      if (as === 'completed' && held[at] === true) this.history.push({ type: as, atMs: this.nowMs, id });
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

  /** What should not be, after {@link empty}. */
  async problems() {
    const { depth, inFlight } = await this.opened.stats();
    const problems = depth === 0 && inFlight === 0 ? [] : [`${String(depth)} are left`];
    this.history.push({ type: 'totals', atMs: this.nowMs, counts: { completed: 6 } });
    return [...problems, ...checkHistory(this.history).map(({ message }) => message)];
  }
}

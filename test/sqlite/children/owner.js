// Another process that uses the same file. It does what it is told, and says what came of it.
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
const store = sqliteStore({ path, busyTimeoutMs: 10_000 });
const limits = { capacity: 1_000_000, maxBytes: 2 ** 40, maxShelved: 1_000_000, maxShelvedBytes: 2 ** 40 };
const rawBody = new Uint8Array(100);

/** @param {string} id */
const deliveryOf = (id) => ({
  delivery: {
    key: 'shop',
    id,
    isIdGenerated: false,
    sender: undefined,
    request: { method: 'POST', url: '/', params: {} },
    context: null,
    headers: {},
    rawBody,
    receivedAtMs: 0,
    sealedBy: undefined,
    fingerprint: undefined,
  },
  isOverflow: false,
});

/** @type {Record<string, (number: number) => unknown>} */
const deeds = {
  open: async () => (await store.open(0)).depth,
  // Ids that the others put as well.
  put: async (number) => {
    let stored = 0;
    for (let at = 0; at < number; at += 1) {
      const [result] = await store.put([deliveryOf(String(at))], { limits, nowMs: 0 });
      if (result === 'stored') stored += 1;
    }
    return stored;
  },
  claim: async (number) => {
    const claimed = await store.claim(number, {
      leaseMs: 3_600_000,
      nowMs: 0,
      maxStranded: 1,
      except: new Set(),
    });
    return claimed.map(({ id }) => id);
  },
  work: async () => {
    const done = [];
    for (;;) {
      const claimed = await store.claim(3, {
        leaseMs: 3_600_000,
        nowMs: 0,
        maxStranded: 1,
        except: new Set(),
      });
      if (claimed.length === 0) return done;
      const settlements = claimed.map(({ key, id, attempt }) => ({
        key,
        id,
        attempt,
        as: /** @type {const} */ ('completed'),
        keep: false,
      }));
      await store.settle(settlements, 0);
      done.push(...claimed.map(({ id }) => id));
    }
  },
};

/** @param {[string, number]} order */
async function obey([deed, number]) {
  process.send?.({ said: await deeds[deed]?.(number) });
}
process.on('message', (order) => void obey(/** @type {[string, number]} */ (order)));
process.send?.({ said: 'ready' });

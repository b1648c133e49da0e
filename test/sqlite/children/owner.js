// A process that uses the same file. It runs the commands that it receives, and sends their results.
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
const store = sqliteStore({ path, busyTimeoutMs: 10_000 });
const limits = {
  capacity: 1_000_000,
  maxBytes: 2 ** 40,
  maxDeadLetters: 1_000_000,
  maxDeadLetterBytes: 2 ** 40,
};
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
const commands = {
  open: async () => (await store.open(0)).depth,
  // The other processes put the same ids.
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

/** @param {[string, number]} message */
async function handle([command, number]) {
  process.send?.({ result: await commands[command]?.(number) });
}
process.on('message', (message) => void handle(/** @type {[string, number]} */ (message)));
process.send?.({ result: 'ready' });

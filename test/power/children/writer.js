// Uses a store on a disk that `disk-shim.c` observes: puts, claims, renewals and settlements in an order that the seed
// decides. Logs what was acknowledged into a file beside the database.
import { openSync, writeSync } from 'node:fs';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [path = '', name = '', deliveries = '0', seedText = '1', end = ''] = process.argv.slice(2);
const acks = openSync(`${path}.acks`, 'a');
const store = sqliteStore({ path });
const limits = {
  capacity: 1_000_000,
  maxBytes: 2 ** 40,
  maxDeadLetters: 1_000_000,
  maxDeadLetterBytes: 2 ** 40,
};
const nowMs = 1_800_000_000_000;
const leaseMs = 3_600_000;

let state = Number(seedText);
/** @param {number} below */
const chance = (below) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((state / 0x80000000) * below);
};

/** @param {string} what */
const say = (what) => writeSync(acks, `${what}\n`);

/**
 * @template T
 * @param {() => T} call
 */
const attempt = async (call) => {
  try {
    return await call();
  } catch (error) {
    // The worst moment: the next process still sees the data that could not be synced.
    if (end === 'dies of errors' && String(error).includes('disk')) process.exit(0);
    return undefined;
  }
};

/** @type {{ key: string, id: string, attempt: number }[]} */
const held = [];

const claim = async () => {
  const options = { leaseMs, nowMs, maxStranded: 1, except: new Set() };
  const claimed = await attempt(() => store.claim(1 + chance(3), options));
  for (const { key, id, attempt } of claimed ?? []) held.push({ key, id, attempt });
};

const complete = async () => {
  const ends = held
    .slice(0, 1 + chance(3))
    .map((ref) => ({ ...ref, as: /** @type {const} */ ('completed'), keep: false }));
  held.splice(0, ends.length);
  const results = await attempt(() => store.settle(ends, nowMs));
  if (results === undefined) {
    held.push(...ends);
    return;
  }
  for (const [at, { key, id }] of ends.entries()) if (results[at]) say(`completed ${key}/${id}`);
};

const renew = () => attempt(() => store.renew(held, { leaseMs, nowMs }));

let put = 0;
const putSome = async () => {
  const batch = Array.from({ length: 1 + chance(2) }, () => ({
    delivery: {
      key: `key ${String(chance(5))}`,
      id: `${name}-${String((put += 1))}`,
      isIdGenerated: false,
      sender: undefined,
      request: { method: 'POST', url: '/', params: {} },
      context: null,
      sealedBy: undefined,
      fingerprint: undefined,
      headers: { 'content-type': 'application/json' },
      rawBody: new Uint8Array(chance(10) === 0 ? 20_000 : 1000).fill(chance(256)),
      receivedAtMs: nowMs,
    },
    isOverflow: false,
  }));
  const results = await attempt(() => store.put(batch, { limits, nowMs }));
  for (const [at, { delivery }] of batch.entries())
    if (results?.[at] === 'stored') say(`stored ${delivery.key}/${delivery.id}`);
};

for (;;) {
  const opened = await attempt(() => store.open(nowMs));
  if (opened !== undefined) break;
}
while (put < Number(deliveries)) {
  // Concurrently: calls during a sync share a commit.
  const next = chance(8);
  const other = next < 4 ? claim : next < 6 ? complete : renew;
  await Promise.all(chance(2) === 0 ? [putSome(), other()] : [putSome(), putSome(), other(), claim()]);
}
// As if killed: open files stay open.
process.exit(0);

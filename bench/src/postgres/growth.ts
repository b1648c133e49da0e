import { storedBytes } from '@webhook-backpressure/inbox/store';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import pg from 'pg';
import { percentile } from '../statistics.ts';
import { AMPLE, putOf } from './sample.ts';

const CALLS = 500;
const WARM_UP = 100;
const BATCH = 10;

/** How many deliveries wait, of how many keys. */
export interface Backlog {
  readonly waiting: number;
  readonly keys: number;
}

/** The 99th percentiles of calls for ten deliveries, in milliseconds. */
export interface Growth {
  readonly claimMs: number;
  readonly putMs: number;
}

/** Puts and claims in a store that already holds a backlog. */
export async function growth(connectionString: string, name: string, backlog: Backlog): Promise<Growth> {
  const store = postgresStore({ connectionString }, { schema: name });
  await store.open(Date.now());
  await fill(connectionString, name, backlog);
  const times = { claim: [] as number[], put: [] as number[] };
  for (let call = -WARM_UP; call < CALLS; call += 1) {
    const puts = Array.from({ length: BATCH }, (_, at) =>
      putOf(`n${String(call * BATCH + at)}`, `key ${String((call * BATCH + at) % backlog.keys)}`),
    );
    const begunMs = performance.now();
    await store.put(puts, { limits: AMPLE, nowMs: Date.now() });
    const putMs = performance.now();
    const claimed = await claimSome(store);
    const claimedMs = performance.now();
    if (call >= 0) {
      times.put.push(putMs - begunMs);
      times.claim.push(claimedMs - putMs);
    }
    await store.settle(
      claimed.map(({ key, id, attempt }) => ({ key, id, attempt, as: 'completed', keep: false })),
      Date.now(),
    );
  }
  await store.close(Date.now());
  return { claimMs: percentile(times.claim, 0.99), putMs: percentile(times.put, 0.99) };
}

async function claimSome(store: InboxStore): Promise<Awaited<ReturnType<InboxStore['claim']>>> {
  const nowMs = Date.now();
  return await store.claim(BATCH, { leaseMs: 30_000, nowMs, maxStranded: 1, except: new Set() });
}

/** By the server alone: through the store it would take minutes. */
async function fill(connectionString: string, name: string, { waiting, keys }: Backlog): Promise<void> {
  const { delivery } = putOf('', '');
  const bytes = storedBytes(delivery);
  const client = new pg.Client({ connectionString });
  await client.connect();
  const key = `'key ' || n % ${String(keys)}`;
  const facts = client.escapeLiteral(JSON.stringify([delivery.headers, 'POST', '/webhooks', {}, null, null]));
  const now = String(Date.now());
  await client.query(`
    SET synchronous_commit = off;
    CREATE TEMPORARY TABLE new AS SELECT n, nextval('${name}.delivery_seq') AS seq, ${key} AS key,
      md5(n::text)::uuid AS hash FROM generate_series(1, ${String(waiting)}) n;
    INSERT INTO ${name}.ids (hash, seq, is_generated) SELECT hash, seq, false FROM new ORDER BY hash;
    INSERT INTO ${name}.contents (seq, hash, key, id, is_generated, facts, received_ms, bytes, body)
      SELECT seq, hash, key, 'b' || n, false, ${facts}, ${now}, ${String(bytes)}, repeat('x', 400)::bytea FROM new;
    INSERT INTO ${name}.queue (seq, key, state, due_ms, received_ms, bytes)
      SELECT seq, key, 0, ${now}, ${now}, ${String(bytes)} FROM new;
    SELECT ${name}.add_totals_v1(${String(waiting)}, ${String(waiting * bytes)}, 0, 0, 0, 0, 0);
    DROP TABLE new;
    RESET synchronous_commit`);
  await client.query(`VACUUM ANALYZE ${name}.queue, ${name}.contents, ${name}.ids`);
  await client.query('CHECKPOINT');
  await client.end();
}

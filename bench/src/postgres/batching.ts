import { createInbox } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import pg from 'pg';
import { BODY, headersOf, isAcknowledged } from '../inbox/sample.ts';

const SENDERS = 64;

/** Deliveries per second. */
export interface Batching {
  readonly inbox: number;
  /** One insert per commit, on as many connections as `pg` opens by default. */
  readonly inserts: number;
  /** The same with a connection for each sender. */
  readonly insertsOfMany: number;
}

/** The same senders store through an inbox, and by one insert for each delivery. */
export async function batching(connectionString: string, name: string, seconds: number): Promise<Batching> {
  return {
    inbox: await byInbox(connectionString, name, seconds),
    inserts: await byInserts(connectionString, `${name}_10`, seconds, 10),
    insertsOfMany: await byInserts(connectionString, `${name}_64`, seconds, SENDERS),
  };
}

async function byInbox(connectionString: string, name: string, seconds: number): Promise<number> {
  const store = postgresStore({ connectionString }, { schema: name });
  const inbox = createInbox({ store, verify: false, capacity: 1e8, maxBytes: 1e13 });
  const body = Buffer.from(BODY);
  const rate = await send(seconds, async (id) => {
    const taken = await inbox.receive({
      headers: headersOf(id),
      hint: '',
      read: (sink) => {
        sink.add(body);
        return Promise.resolve('whole');
      },
    });
    return isAcknowledged(taken?.status);
  });
  await inbox.close({ timeoutMs: 0 });
  return rate;
}

async function byInserts(
  connectionString: string,
  name: string,
  seconds: number,
  connections: number,
): Promise<number> {
  const pool = new pg.Pool({ connectionString, max: connections });
  await pool.query(
    `CREATE TABLE ${name} (key text NOT NULL, id text NOT NULL, headers text NOT NULL, body bytea NOT NULL,
      received timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (key, id))`,
  );
  const text = `INSERT INTO ${name} (key, id, headers, body) VALUES ('shop', $1, $2, $3) ON CONFLICT DO NOTHING`;
  const body = Buffer.from(BODY);
  const rate = await send(seconds, async (id) => {
    await pool.query(text, [id, JSON.stringify(headersOf(id)), body]);
    return true;
  });
  await pool.end();
  return rate;
}

/** Acknowledged deliveries per second, after one second that does not count. */
async function send(seconds: number, store: (id: string) => Promise<boolean>): Promise<number> {
  let sent = 0;
  let acknowledged = 0;
  const startMs = performance.now() + 1000;
  const endMs = startMs + seconds * 1000;
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (performance.now() < endMs) {
        sent += 1;
        const isStored = await store(`d${String(sent)}`);
        const now = performance.now();
        if (isStored && now >= startMs && now < endMs) acknowledged += 1;
        // Until the store is open, it is refused.
        if (!isStored) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  return acknowledged / seconds;
}

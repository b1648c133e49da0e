import { createInbox } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { Queue } from 'bullmq';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { BODY, headersOf, isAcknowledged } from '../inbox/sample.ts';

/** Where the servers are. */
export interface Servers {
  readonly connectionString: string;
  readonly redisPort: number;
}

/** Stores deliveries. */
export interface Writer {
  /** Stores one; it survives a crash of the server when the promise resolves. */
  write(id: string): Promise<unknown>;
  /** How many are stored. */
  count(): Promise<number>;
  close(): Promise<unknown>;
}

const arrivalOf = (id: string): object => ({ id, headers: headersOf(id), body: BODY });

/** A receiver without workers. Ids are deduplicated, and the capacity is kept. */
async function ours({ connectionString }: Servers, name: string): Promise<Writer> {
  const store = postgresStore({ connectionString }, { schema: name });
  const inbox = createInbox({ store, verify: false, capacity: 1e8, maxBytes: 1e13 });
  const pool = new pg.Pool({ connectionString, max: 1 });
  const body = Buffer.from(BODY);
  const write = async (id: string): Promise<void> => {
    const taken = await inbox.receive({
      headers: headersOf(id),
      hint: '',
      read: (sink) => {
        sink.add(body);
        return Promise.resolve('whole');
      },
    });
    if (!isAcknowledged(taken?.status)) throw new Error(`It was answered with ${JSON.stringify(taken)}.`);
  };
  // Until the store is open, deliveries are refused.
  while (inbox.snapshot().isStoreFailing || !(await isOpen(() => write('first')))) continue;
  return {
    write,
    count: async () => {
      const text = `SELECT count(*)::integer AS count FROM ${name}.queue`;
      return ((await pool.query<{ count: number }>(text)).rows[0]?.count ?? 0) - 1;
    },
    close: async () => {
      await inbox.close({ timeoutMs: 0 });
      await pool.end();
    },
  };
}

async function isOpen(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch {
    return new Promise((resolve) => {
      setTimeout(() => {
        resolve(false);
      }, 20);
    });
  }
}

/** As its README has it, without deduplication: a send for each delivery. */
async function pgBoss({ connectionString }: Servers, name: string): Promise<Writer> {
  const boss = new PgBoss({ connectionString, schema: name });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue('deliveries');
  const pool = new pg.Pool({ connectionString, max: 1 });
  return {
    write: async (id) => boss.send('deliveries', arrivalOf(id)),
    count: async () => {
      const text = `SELECT count(*)::integer AS count FROM ${name}.job WHERE name = 'deliveries'`;
      return (await pool.query<{ count: number }>(text)).rows[0]?.count ?? 0;
    },
    close: async () => {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

/** As its documentation has it: an add for each delivery, its id as that of the job. */
async function bullmq({ redisPort }: Servers, name: string): Promise<Writer> {
  const queue = new Queue(name, { connection: { host: '127.0.0.1', port: redisPort } });
  await queue.waitUntilReady();
  return {
    write: async (id) => queue.add('delivery', arrivalOf(id), { jobId: id }),
    count: () => queue.getWaitingCount(),
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

/** By the names of their sides. */
export const writers: ReadonlyMap<string, (servers: Servers, name: string) => Promise<Writer>> = new Map([
  ['ours', ours],
  ['pg-boss', pgBoss],
  ['BullMQ', bullmq],
]);

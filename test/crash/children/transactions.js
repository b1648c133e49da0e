// The process that the tests kill: a program whose transactions contain its own rows and the steps of an inbox or of a
// sender. It counts the steps, and kills itself at one of them.
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('the settings are missing');
/** @type {unknown} */
const parsed = JSON.parse(given);
const { store, half, log, life, killAt } =
  /** @type {import('../transaction-crashes.ts').TransactionSettings} */ (parsed);
const isLast = killAt === 0;

let steps = 0;
function step() {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
}

/** @typedef {{ run: (sql: string, value: string) => unknown, client: unknown }} Transaction */

/** Runs a transaction, with a step before and after each of its statements. `work` may be interrupted at any of them. */
const transaction = await ('path' in store ? inSqlite(store.path) : inPostgres(store));

// Each process loads only what it uses: most of its time is its start.
/** @param {string} path */
async function inSqlite(path) {
  const { default: Database } = await import('libsql');
  const client = new Database(path, { timeout: 10_000 });
  client.exec('PRAGMA synchronous = FULL');
  /** @type {(work: (transaction: Transaction) => unknown) => Promise<void>} */
  return async (work) => {
    step();
    client.exec('BEGIN IMMEDIATE');
    try {
      step();
      // Nothing is awaited, since other handlers use the same connection.
      void work({ client, run: (sql, value) => client.prepare(sql).run([value]) });
      step();
      client.exec('COMMIT');
    } catch (error) {
      client.exec('ROLLBACK');
      throw error;
    }
    step();
    await Promise.resolve();
  };
}

/** @param {{ connectionString: string }} server */
async function inPostgres({ connectionString }) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString, max: 8 });
  /** @type {(work: (transaction: Transaction) => unknown) => Promise<void>} */
  return async (work) => {
    const client = await pool.connect();
    try {
      step();
      await client.query('BEGIN');
      step();
      await work({ client, run: (sql, value) => client.query(sql.replace('?', '$1'), [value]) });
      step();
      const commit = client.query('COMMIT');
      step();
      await commit;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
    step();
  };
}

/**
 * The calls of `work` in order. Those of a synchronous client have run when they return.
 *
 * @param {(() => unknown)[]} calls
 */
function inOrder(...calls) {
  if ('path' in store) {
    for (const call of calls) {
      void call();
      step();
    }
    return undefined;
  }
  return (async () => {
    for (const call of calls) {
      await call();
      step();
    }
  })();
}

async function openStore() {
  if ('path' in store) {
    const { sqliteStore } = await import('@webhook-backpressure/sqlite');
    return sqliteStore({ path: store.path, applicationFile: true });
  }
  const { postgresStore } = await import('@webhook-backpressure/postgres');
  return postgresStore({ connectionString: store.connectionString }, { schema: store.schema });
}

const opened = await openStore();
const effects = 'path' in store ? 'effects' : `${store.schema}_effects`;
const made = 'path' in store ? 'made' : `${store.schema}_made`;

/** @returns {Promise<{ add: (id: string, client: unknown) => unknown, depth: () => number | Promise<number> }>} */
async function begin() {
  if (half === 'send') {
    const { createSender } = await import('@webhook-backpressure/sender');
    const sender = createSender({
      store: opened,
      endpoint: () => ({
        url: 'https://endpoint.example/',
        secret: null,
        rate: { perSecond: 10_000 },
        burst: 10_000,
      }),
      fetch: (_, init) => {
        step();
        const headers = /** @type {Record<string, string>} */ (init?.headers ?? {});
        appendFileSync(log, `${String(headers['webhook-id'])}\n`);
        step();
        return Promise.resolve(new Response(null, { status: 204 }));
      },
    });
    await sender.opened;
    return {
      add: (id, client) => sender.send({ endpoint: 'e', type: 'made', data: { id }, id }, { client }),
      depth: async () => (await opened.stats()).depth,
    };
  }
  const { createInbox } = await import('@webhook-backpressure/inbox');
  const inbox = createInbox({
    store: opened,
    verify: false,
    concurrency: 4,
    retry: { attempts: 1000, firstDelayMs: 1, maxDelayMs: 20 },
    process: async ({ id }, { attempt, complete }) => {
      step();
      await transaction(({ run, client }) =>
        inOrder(
          () => run(`INSERT INTO ${effects} VALUES (?)`, id),
          // The next step of the work.
          () => (id.endsWith('+') ? undefined : inbox.add({ id: `${id}+`, body: id }, { client })),
          () => complete(client),
          () => {
            if (attempt === 1 && id.includes('3')) throw new Error('rolled back');
          },
        ),
      );
      // Committed, and the worker does not know it yet.
      step();
    },
  });
  inbox.subscribe(({ type }) => {
    if (type === 'completed') step();
  });
  await inbox.opened;
  return {
    add: (id, client) => inbox.add({ id, body: id }, { client }),
    depth: async () => (await opened.stats()).depth,
  };
}

const { add, depth } = await begin();
process.send?.({ opened: true });
for (let at = 0; !isLast; at += 1) {
  const id = `${String(life)}-${String(at)}`;
  await transaction(({ run, client }) =>
    inOrder(
      () => run(`INSERT INTO ${made} VALUES (?)`, id),
      () => add(id, client),
    ),
  );
  // So that the other side keeps up.
  while ((await depth()) > 20) await setTimeout(5);
  await setTimeout(1);
}
while ((await depth()) > 0) await setTimeout(20);
process.send?.({ drained: true });

import { createInbox, createWorker, type Inbox } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { BODY, headersOf } from '../inbox/sample.ts';

/** How many deliveries each takes at a time, and how many handlers of ours and of graphile-worker may run concurrently. */
export const BATCH = 500;
/** How many deliveries are stored at a time, which is not measured. */
const STORED_TOGETHER = 1000;

/** Drains a backlog. */
export interface Drainer {
  store(ids: readonly string[]): Promise<unknown>;
  /** Begins to drain. `handled` is called for each delivery by a handler that does nothing else. */
  begin(handled: (id: string) => unknown): Promise<unknown>;
  /** Ends the workers. Returns how many deliveries are stored and not completed. */
  end(): Promise<number>;
}

interface Arrival {
  readonly id: string;
}
const arrivalOf = (id: string): Arrival => ({ id, headers: headersOf(id), body: BODY }) as Arrival;

/** As its documentation has it. */
function ours(connectionString: string, schema: string): Promise<Drainer> {
  const open = (): ReturnType<typeof postgresStore> => postgresStore({ connectionString }, { schema });
  const limits = { capacity: 1e8, maxBytes: 1e13 };
  let receiver: Inbox | undefined;
  let end = (): Promise<unknown> => Promise.resolve();
  return Promise.resolve({
    store: async (ids) => {
      const inbox = (receiver ??= createInbox({ store: open(), verify: false, ...limits }));
      for (const some of inParts(ids))
        await Promise.all(some.map((id) => inbox.add({ id, headers: headersOf(id), body: BODY })));
    },
    begin: async (handled) => {
      await receiver?.close();
      const process = ({ id }: Arrival): unknown => handled(id);
      const inbox = createWorker({ store: open(), process, concurrency: BATCH });
      end = () => inbox.close();
      await inbox.opened;
    },
    end: async () => {
      await end();
      return count(connectionString, `${schema}.queue`);
    },
  });
}

/** With the local queue and the batches that its page on performance describes. Its ids are unique only if they are keys. */
async function graphileWorker(connectionString: string, schema: string): Promise<Drainer> {
  const logger = new Logger(() => () => undefined);
  const shared = { connectionString, schema, logger };
  const utils = await makeWorkerUtils(shared);
  await utils.migrate();
  let end = (): Promise<unknown> => Promise.resolve();
  return {
    store: async (ids) => {
      for (const some of inParts(ids))
        await utils.addJobs(some.map((id) => ({ identifier: 'delivery', payload: arrivalOf(id) })));
    },
    begin: async (handled) => {
      const delivery = async (payload: unknown): Promise<void> => {
        await handled((payload as Arrival).id);
      };
      const worker = { localQueue: { size: BATCH }, completeJobBatchDelay: 0, concurrentJobs: BATCH };
      const preset = { worker: { connectionString, schema, logger, ...worker } };
      const runner = await run({ preset, taskList: { delivery }, noHandleSignals: true });
      end = () => runner.stop();
    },
    end: async () => {
      await end();
      await utils.release();
      return count(connectionString, `${schema}._private_jobs`);
    },
  };
}

/** In batches, of which it takes the next immediately after a full one. */
async function pgBoss(connectionString: string, schema: string): Promise<Drainer> {
  const boss = new PgBoss({ connectionString, schema });
  boss.on('error', (error) => {
    process.stderr.write(`pg-boss: ${error.message}\n`);
  });
  await boss.start();
  await boss.createQueue('deliveries');
  return {
    store: async (ids) => {
      for (const some of inParts(ids))
        await boss.insert(
          'deliveries',
          some.map((id) => ({ data: arrivalOf(id) })),
        );
    },
    begin: async (handled) => {
      const options = { batchSize: BATCH, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
      await boss.work('deliveries', options, async (jobs) => {
        await Promise.all(jobs.map(({ data }) => handled((data as Arrival).id)));
      });
    },
    end: async () => {
      await boss.stop({ graceful: true });
      return count(connectionString, `${schema}.job WHERE name = 'deliveries' AND state <> 'completed'`);
    },
  };
}

function* inParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += STORED_TOGETHER) yield ids.slice(at, at + STORED_TOGETHER);
}

async function count(connectionString: string, rows: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const found = await client.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${rows}`);
  await client.end();
  return found.rows[0]?.count ?? NaN;
}

/** By the names of their sides. */
export const drainers: ReadonlyMap<string, (connectionString: string, schema: string) => Promise<Drainer>> =
  new Map([
    ['ours', ours],
    ['graphile-worker', graphileWorker],
    ['pg-boss', pgBoss],
  ]);

import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { progress, textOption } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned } from '../pinned.ts';
import { percentile } from '../statistics.ts';
import type { Access } from '../story/setup.ts';
import { write } from '../write.ts';
import { Side } from './trouble-side.ts';
import {
  CLEAN_S,
  PER_SECOND,
  PATIENCE_S,
  TROUBLE_S,
  troublesReport,
  WARM_S,
  type Cell,
} from './troubles-report.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;
const SIDES = ['ours', 'graphile-worker', 'pg-boss'] as const;
const WORKERS = 2;

interface Trouble {
  /** How much is stored in it. */
  readonly perSecond?: number;
  readonly act: (side: Side, database: Pinned) => Promise<unknown>;
}

/** What happens in the phase of trouble. */
const troubles: ReadonlyMap<string, Trouble> = new Map<string, Trouble>([
  [
    'a worker gets SIGKILL, and is started after half of the time',
    {
      act: async (side) => {
        side.kill(0);
        await wait(TROUBLE_S * 500);
        await side.work(0);
      },
    },
  ],
  [
    'a worker gets SIGKILL every 2 s, and is started again immediately',
    {
      act: async (side) => {
        for (let at = 0; at < TROUBLE_S / 2; at += 1) {
          const next = wait(2000);
          side.kill(0);
          await side.work(0);
          await next;
        }
      },
    },
  ],
  [
    'PostgreSQL is stopped for 3 s',
    {
      act: async (_side, database) => {
        await database.ask('stop');
        await wait(3000);
        await database.ask('again');
      },
    },
  ],
  [
    'five connections per second are terminated',
    {
      act: async ({ connectionString }) => {
        await withClients(connectionString, 1, async ([admin]) => {
          for (let at = 0; at < TROUBLE_S * 5; at += 1) {
            await admin?.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY random() LIMIT 1`);
            await wait(200);
          }
        });
      },
    },
  ],
  [
    'other programs hold all connections of the server but three',
    {
      act: async ({ connectionString }) => {
        await withClients(connectionString, 1, async ([admin]) => {
          const free = await admin?.query<{
            count: number;
          }>(`SELECT current_setting('max_connections')::integer
            - current_setting('superuser_reserved_connections')::integer - count(*)::integer AS count FROM pg_stat_activity
            WHERE backend_type = 'client backend'`);
          await withClients(connectionString, Math.max(0, (free?.rows[0]?.count ?? 0) - 3), () =>
            wait(TROUBLE_S * 1000),
          );
        });
      },
    },
  ],
  [
    'a transaction with a number is held open',
    {
      act: ({ connectionString }) =>
        withClients(connectionString, 1, async ([client]) => {
          await client?.query('BEGIN; SELECT txid_current()');
          await wait(TROUBLE_S * 1000);
        }),
    },
  ],
  ['half as much again is stored', { perSecond: 1.5 * PER_SECOND, act: () => wait(TROUBLE_S * 1000) }],
  ['four times as much is stored', { perSecond: 4 * PER_SECOND, act: () => wait(TROUBLE_S * 1000) }],
  [
    'four readers scan the tables in REPEATABLE READ',
    {
      act: async ({ connectionString, schema }) => {
        const untilMs = performance.now() + TROUBLE_S * 1000;
        await withClients(connectionString, 4, async (clients) => {
          await Promise.all(clients.map((client) => scan(client, schema, untilMs)));
        });
      },
    },
  ],
]);

async function scan(client: pg.Client, schema: string, untilMs: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [schema],
  );
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  for (let at = 0; performance.now() < untilMs; at += 1)
    await client.query(`SELECT count(*) FROM ${rows[at % rows.length]?.name ?? ''}`);
}

async function withClients(
  connectionString: string,
  count: number,
  use: (clients: readonly pg.Client[]) => Promise<unknown>,
): Promise<void> {
  const clients: pg.Client[] = [];
  try {
    while (clients.length < count) {
      const client = new pg.Client({ connectionString });
      // The server may be out of connections by then, which is what is wanted.
      client.on('error', () => undefined);
      await client.connect();
      clients.push(client);
    }
    await use(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

async function cellOf(
  name: string,
  what: string,
  connectionString: string,
  database: Pinned,
  at: number,
): Promise<Cell> {
  const { perSecond = PER_SECOND, act } = troubles.get(what) ?? { act: () => Promise.resolve() };
  const side = new Side(name, connectionString, `trouble_${name.replaceAll(/[^a-z]/g, '')}_${String(at)}`);
  const before = { seconds: WARM_S + CLEAN_S, perSecond: PER_SECOND };
  const during = { seconds: TROUBLE_S, perSecond };
  const after = { seconds: CLEAN_S, perSecond: PER_SECOND };
  // Alone, so that one process creates the tables.
  const setUp = await side.start([{ seconds: 0, perSecond: 1 }]);
  await setUp.ended;
  setUp.child.kill('SIGKILL');
  for (let worker = 0; worker < WORKERS; worker += 1) await side.work(worker);
  const { child, ended } = await side.start([before, during, after]);
  const beganMs = performance.timeOrigin + performance.now();
  await wait((WARM_S + CLEAN_S) * 1000);
  const troubleMs = performance.timeOrigin + performance.now();
  await act(side, database);
  const overMs = performance.timeOrigin + performance.now();
  await ended;
  const untilMs = performance.now() + PATIENCE_S * 1000;
  while (side.waiting > 0 && performance.now() < untilMs) await wait(100);
  await side.end(child);

  const stay = (fromMs: number, toMs: number): number[] =>
    [...side.acknowledged].flatMap(([id, atMs]) =>
      atMs >= fromMs && atMs < toMs ? [(side.handled.get(id) ?? Infinity) - atMs] : [],
    );
  const rate = (fromMs: number, toMs: number): number =>
    [...side.handled.values()].filter((atMs) => atMs >= fromMs && atMs < toMs).length /
    ((toMs - fromMs) / 1000);
  const cleanFromMs = beganMs + WARM_S * 1000;
  const last = Math.max(
    0,
    ...[...side.acknowledged].flatMap(([id, atMs]) =>
      atMs < overMs ? [(side.handled.get(id) ?? Infinity) - overMs] : [],
    ),
  );
  return {
    side: name,
    trouble: what,
    cleanPerSecond: rate(cleanFromMs, troubleMs),
    // Those of the last moments are handled in the trouble.
    cleanMs: percentile(stay(cleanFromMs, troubleMs - 1000), 0.99),
    perSecond: rate(troubleMs, overMs),
    storedPerSecond: stay(troubleMs, overMs).length / ((overMs - troubleMs) / 1000),
    ms: percentile(stay(troubleMs, overMs), 0.99),
    clearedS: last / 1000,
    lost: side.waiting,
    twice: side.twice,
    refused: side.refused,
    exits: side.exits,
  };
}

const machine = describeMachine();
const only = textOption('only') ?? '';
const cells: Cell[] = [];
const folder = mkdtempSync(join(tmpdir(), 'wbp-troubles-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
try {
  const { user, password, host, port, database: name } = await database.ask<Access>('start');
  const connectionString = `postgres://${user}:${password}@${host}:${String(port)}/${name}`;
  for (const [at, what] of [...troubles.keys()].entries()) {
    if (!what.includes(only)) continue;
    for (const side of SIDES) {
      const cell = await cellOf(side, what, connectionString, database, at);
      progress(JSON.stringify(cell));
      cells.push(cell);
    }
  }
  await database.ask('stop');
} finally {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}
const report = troublesReport(machine, cells);
process.stdout.write(report);
if (only === '') {
  await write('queues/troubles.json', JSON.stringify({ machine, cells }));
  await write('queues/troubles.md', report);
}

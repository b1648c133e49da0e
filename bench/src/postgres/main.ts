import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFlag, numberOption, progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import type { Access } from '../story/setup.ts';
import { write } from '../write.ts';
import type { Batching } from './batching.ts';
import type { Backlog, Growth } from './growth.ts';
import type { OpenTransaction } from './open-transaction.ts';
import { postgresReport, ratiosOf, type Figures } from './report.ts';
import type { Order } from './store-child.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const isQuick = hasFlag('quick');
const seconds = numberOption('seconds', isQuick ? 3 : 10);
const heldSeconds = numberOption('held-seconds', isQuick ? 15 : 300);
const large: Backlog = isQuick ? { waiting: 100_000, keys: 2000 } : { waiting: 1_000_000, keys: 20_000 };
const small: Backlog = { waiting: 1000, keys: 10 };

const machine = describeMachine();
// On a disk, since commits wait for it.
const folder = mkdtempSync(join(tmpdir(), 'wbp-postgres-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
try {
  const { user, password, host, port, database: name } = await database.ask<Access>('start');
  const connectionString = `postgres://${user}:${password}@${host}:${String(port)}/${name}`;
  const figures: Figures = {
    heldSeconds,
    batching: await take<Batching>({ connectionString, name: 'batching', batchingForSeconds: seconds }),
    small: { ...small, ...(await take<Growth>({ connectionString, name: 'small', backlog: small })) },
    large: { ...large, ...(await take<Growth>({ connectionString, name: 'large', backlog: large })) },
    openTransaction: await take<OpenTransaction>({
      connectionString,
      name: 'open_transaction',
      openTransaction: { seconds, heldSeconds },
    }),
  };
  await database.ask('stop');
  const ratios = ratiosOf(figures);
  process.stdout.write(`${JSON.stringify({ figures, ratios })}\n`);
  if (!isQuick) {
    await write('postgres/results.json', JSON.stringify({ machine, figures, ratios }));
    await write('postgres/report.md', postgresReport(machine, ratios));
  }
} finally {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function take<T>(order: Order): Promise<T> {
  const child = new Pinned('postgres/store-child.js', [], { core: SERVER_CORE });
  try {
    const measured = await child.ask<T>(order);
    progress(`${order.name}: ${JSON.stringify(measured)}`);
    return measured;
  } finally {
    await child.stop();
  }
}

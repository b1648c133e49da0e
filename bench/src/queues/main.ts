import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFlag, numberOption, progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import type { Access } from '../story/setup.ts';
import { write } from '../write.ts';
import { secondsOfDescendants } from './process-tree.ts';
import { queuesReport, rowsOf, type Turn } from './report.ts';
import type { Order, Written } from './writer-child.ts';
import type { Servers } from './writers.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const SIDES = ['ours', 'pg-boss', 'BullMQ'] as const;
const isQuick = hasFlag('quick');
const rounds = numberOption('rounds', isQuick ? 3 : 7);
const seconds = numberOption('seconds', isQuick ? 1.5 : 4);

const machine = describeMachine();
// On a disk, since each side waits for it.
const folder = mkdtempSync(join(tmpdir(), 'wbp-queues-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
const redis = new Pinned('queues/redis-child.js', [folder], { core: LOAD_CORE, uid });
const turns: Turn[] = [];
try {
  const { user, password, host, port, database: name } = await database.ask<Access>('start');
  const servers: Servers = {
    connectionString: `postgres://${user}:${password}@${host}:${String(port)}/${name}`,
    redisPort: await redis.ask<number>('start'),
  };
  // The first round compiles and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const turn = await take(side, servers, `round_${String(round)}`);
      progress(
        `${side}: ${String(Math.round(turn.perProcessorSecond))} per second of processor time, ${String(Math.round(turn.perSecond))} per second`,
      );
      if (round > 0) turns.push(turn);
    }
  }
  await database.ask('stop');
} finally {
  await database.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

const rows = rowsOf(turns);
process.stdout.write(`${JSON.stringify(rows)}\n`);
if (!isQuick) {
  await write('queues/results.json', JSON.stringify({ machine, rows }));
  await write('queues/report.md', queuesReport(machine, rows));
}

async function take(side: string, servers: Servers, name: string): Promise<Turn> {
  const server = side === 'BullMQ' ? redis : database;
  const schema = `${side.replaceAll(/[^a-z]/gi, '').toLowerCase()}_${name}`;
  const writer = new Pinned('queues/writer-child.js', [side], { core: SERVER_CORE });
  const ask = <T>(order: Order): Promise<T> => writer.ask<T>(order);
  try {
    await ask({ open: servers, name: schema });
    await ask({ writeForSeconds: seconds / 2 });
    const before = secondsOfDescendants(server.pid);
    const written = await ask<Written>({ writeForSeconds: seconds });
    const serverSeconds = secondsOfDescendants(server.pid) - before;
    await ask({ close: true });
    const { acknowledged, processorSeconds } = written;
    return {
      side,
      perProcessorSecond: acknowledged / (processorSeconds + serverSeconds),
      perSecond: acknowledged / written.seconds,
      clientMicroseconds: (1e6 * processorSeconds) / acknowledged,
      serverMicroseconds: (1e6 * serverSeconds) / acknowledged,
    };
  } finally {
    await writer.stop();
  }
}

import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFlag, numberOption, progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import type { Access } from '../story/setup.ts';
import { write } from '../write.ts';
import { secondsOfDescendants } from './process-tree.ts';
import type { Drained, DrainOrder } from './drain-child.ts';
import { BATCH } from './drainers.ts';
import { drainRowsOf, queuesReport, rowsOf, type DrainTurn, type Turn } from './report.ts';
import type { Order, Written } from './writer-child.ts';
import type { Servers } from './writers.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const SIDES = ['ours', 'pg-boss', 'BullMQ'] as const;
const isQuick = hasFlag('quick');
const rounds = numberOption('rounds', isQuick ? 3 : 7);
const seconds = numberOption('seconds', isQuick ? 1.5 : 8);
const DRAINING = ['ours', 'graphile-worker', 'pg-boss'] as const;
const backlog = numberOption('backlog', isQuick ? 10_000 : 50_000);
/** Only the backlog, which needs no Redis. */
const isDrainOnly = hasFlag('drain');

const machine = describeMachine();
// On a disk, since each side waits for it.
const folder = mkdtempSync(join(tmpdir(), 'wbp-queues-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
const redis = new Pinned('queues/redis-child.js', [folder], { core: LOAD_CORE, uid });
const turns: Turn[] = [];
const drainTurns: DrainTurn[] = [];
try {
  const { user, password, host, port, database: name } = await database.ask<Access>('start');
  const connectionString = `postgres://${user}:${password}@${host}:${String(port)}/${name}`;
  const servers: Servers = {
    connectionString,
    redisPort: isDrainOnly ? 0 : await redis.ask<number>('start'),
  };
  // The first round compiles and does not count.
  for (let round = 0; round <= rounds && !isDrainOnly; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const turn = await take(side, servers, `round_${String(round)}`);
      progress(
        `${side}: ${String(Math.round(turn.perProcessorSecond))} per second of processor time, ${String(Math.round(turn.perSecond))} per second`,
      );
      if (round > 0) turns.push(turn);
    }
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? DRAINING : DRAINING.toReversed()) {
      const turn = await drain(side, connectionString, `round_${String(round)}`);
      progress(
        `${side}: ${String(Math.round(turn.perSecond))} handled per second, ${String(Math.round(turn.perProcessorSecond))} per second of processor time`,
      );
      if (round > 0) drainTurns.push(turn);
    }
  }
  await database.ask('stop');
} finally {
  await database.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

const rows = rowsOf(turns);
const draining = drainRowsOf(drainTurns);
process.stdout.write(`${JSON.stringify({ rows, draining })}\n`);
if (!isQuick && !isDrainOnly) {
  await write('queues/results.json', JSON.stringify({ machine, rows, draining }));
  const drained = { deliveries: backlog, batch: BATCH, rows: draining };
  await write('queues/report.md', queuesReport(machine, rows, drained));
}

async function drain(side: string, connectionString: string, name: string): Promise<DrainTurn> {
  const schema = `drain_${side.replaceAll(/[^a-z]/gi, '').toLowerCase()}_${name}`;
  const child = new Pinned('queues/drain-child.js', [side], { core: SERVER_CORE });
  const ask = <T>(order: DrainOrder): Promise<T> => child.ask<T>(order);
  try {
    await ask({ store: backlog, in: connectionString, schema });
    const before = secondsOfDescendants(database.pid);
    const drained = await ask<Drained>({ drain: true });
    const used = drained.processorSeconds + secondsOfDescendants(database.pid) - before;
    return { side, perSecond: backlog / drained.seconds, perProcessorSecond: backlog / used };
  } finally {
    await child.stop();
  }
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

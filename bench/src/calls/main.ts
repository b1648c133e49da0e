import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFlag, numberOption, progress, textOption } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { sum } from '../statistics.ts';
import { write } from '../write.ts';
import type { Seen } from './api-child.ts';
import type { Called } from './caller-child.ts';
import type { Places } from './callers.ts';
import { callsReport, rowsOf, type Turn } from './report.ts';
import { CALLS, PROCESSES, SIDES, type SideName } from './setup.ts';

/** Debian's Redis runs as this user too, which has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const isQuick = hasFlag('quick');
const only = textOption('only');
const rounds = numberOption('rounds', isQuick ? 1 : 3);
const sides = SIDES.filter((side) => only === undefined || side.startsWith(only));
const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), 'wbp-calls-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const api = new Pinned('calls/api-child.js', [], { core: LOAD_CORE });
const redis = new Pinned('queues/redis-child.js', [folder, 'no'], { core: LOAD_CORE, uid });
const turns: Turn[] = [];
try {
  const url = `http://127.0.0.1:${String(await api.ask<number>('start'))}/`;
  const redisPort = await redis.ask<number>('start');
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const turn = await take(side, { url, redisPort, turn: `turn-${String(turns.length)}` });
      progress(JSON.stringify(turn));
      turns.push(turn);
    }
  }
} finally {
  await api.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

const rows = rowsOf(turns).filter(({ side }) => sides.includes(side));
process.stdout.write(`${JSON.stringify(rows)}\n`);
if (!isQuick && only === undefined) {
  await write('calls/results.json', JSON.stringify({ machine, rows }));
  await write('calls/report.md', callsReport(machine, rows, rounds));
}

async function take(side: SideName, places: Places): Promise<Turn> {
  const processes = Array.from(
    { length: PROCESSES },
    () => new Pinned('calls/caller-child.js', [side], { core: SERVER_CORE }),
  );
  try {
    await Promise.all(processes.map((one) => one.ask({ open: places })));
    await api.ask('begin');
    const called = await Promise.all(processes.map((one) => one.ask<Called>('call')));
    const seen = await api.ask<Seen>('report');
    await Promise.all(processes.map((one) => one.ask('close')));
    const total = (of: keyof Called): number => sum(called.map((one) => one[of]));
    const [ok, failed, delayed] = [total('ok'), total('failed'), total('delayed')];
    if (ok + failed !== CALLS || seen.accepted < ok)
      throw new Error(`${side}: ${String(ok)} answered, ${String(failed)} failed, ${JSON.stringify(seen)}.`);
    return { side, ok, failed, delayed, refused: seen.refused, seconds: seen.seconds };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}

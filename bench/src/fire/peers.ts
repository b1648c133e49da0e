import { fire, type Report } from '@webhook-backpressure/fire';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { numberOption, progress, textOption } from '../command-line.ts';
import { inScratch } from '../inbox/scratch.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { write } from '../write.ts';
import { peersReport, type Row } from './peers-report.ts';
import { BURST, HANDLED, RUNS, type Place, type Run } from './peers-setup.ts';
import { pictureOf } from './picture.ts';
import { SECRET, WARM_UP, WARM_UP_EVENTS } from './setup.ts';

/** Fires the same burst at our receivers and at their peers, and writes the report. */
const only = textOption('only');
const rounds = numberOption('rounds', 2);

/** In the middle of the burst. */
const KILL_AFTER_MS = 2500;
const LOOK_MS = 200;
/** A worker of BullMQ takes the jobs of a dead one after 30 s, and looks for them every 30 s. */
const IDLE_MS = 70_000;
const QUIET_MS = 3000;

const machine = describeMachine();
const rows: Row[] = [];
for (let round = 1; round <= rounds; round += 1)
  for (const one of RUNS) {
    if (only !== undefined && !one.peer.startsWith(only)) continue;
    const row = await inScratch((newFile) => measure(one, dirname(newFile()), round));
    progress(JSON.stringify(row));
    rows.push(row);
  }
if (only === undefined) {
  await write('fire/results.json', JSON.stringify({ machine, rows }));
  await write('fire/report.md', peersReport(machine, rows));
  await write('fire/burst.svg', pictureOf(rows));
}

async function measure(run: Run, folder: string, round: number): Promise<Row> {
  const { peer, redis: persistence, isKilled } = run;
  const startRedis = (port: number): Pinned =>
    new Pinned('queues/redis-child.js', [folder, persistence ?? 'defaults', String(port)], {
      core: LOAD_CORE,
    });
  const startReceiver = (place: Place): Pinned =>
    new Pinned('fire/peer-child.js', [peer, JSON.stringify(place)], { core: SERVER_CORE });
  let redis = persistence === undefined ? undefined : startRedis(0);
  const redisPort = (await redis?.ask<number>('start')) ?? 0;
  let receiver = startReceiver({ port: 0, folder, redisPort });
  try {
    const port = await receiver.ask<number>('start');
    const url = `http://127.0.0.1:${String(port)}/webhooks`;
    await fire([url, '--as', 'svix', '--secret', SECRET, ...WARM_UP]);
    const warmUp = await settled(folder, WARM_UP_EVENTS);
    const begunMs = Date.now();
    const burst = fire([url, ...BURST]);
    if (isKilled === true) {
      await wait(KILL_AFTER_MS);
      process.kill(receiver.pid, 'SIGKILL');
      await redis?.stop();
      redis &&= startRedis(redisPort);
      await redis?.ask('start');
      receiver = startReceiver({ port, folder, redisPort });
      await receiver.ask('start');
    }
    const report = await burst;
    const handled = await settled(folder, warmUp.size + report.delivered);
    for (const id of warmUp.keys()) handled.delete(id);
    return rowOf(run, round, report, begunMs, handled);
  } finally {
    await receiver.stop();
    await redis?.stop();
  }
}

/** When each delivery was handled, by id: once as many are as were acknowledged, and no more are, or after a minute of nothing. */
async function settled(folder: string, expected: number): Promise<Map<string, number[]>> {
  for (;;) {
    const handled = handledIn(folder);
    const quietMs = Date.now() - Math.max(0, ...[...handled.values()].flat());
    if (quietMs > (handled.size < expected ? IDLE_MS : QUIET_MS)) return handled;
    await wait(LOOK_MS);
  }
}

function handledIn(folder: string): Map<string, number[]> {
  const handled = new Map<string, number[]>();
  const file = join(folder, HANDLED);
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []) {
    const [id = '', time] = line.split(' ');
    handled.set(id, [...(handled.get(id) ?? []), Number(time)]);
  }
  return handled;
}

function rowOf(
  { peer, redis, isKilled = false }: Run,
  round: number,
  report: Report,
  begunMs: number,
  handled: ReadonlyMap<string, readonly number[]>,
): Row {
  const { events, delivered, lost, attempts, ackMs, seconds, senders, answers, maxLateMs } = report;
  const more = [...handled.values()].filter(({ length }) => length > 1).length;
  return {
    ...{ peer, redis, isKilled, round, delivered, lost, attempts, answers, maxLateMs },
    once: handled.size - more,
    more,
    never: events - handled.size,
    unhandled: Math.max(0, delivered - handled.size),
    p50S: (ackMs.p50 ?? NaN) / 1000,
    p99S: (ackMs.p99 ?? NaN) / 1000,
    doneS: Math.max(seconds, (Math.max(...[...handled.values()].flat()) - begunMs) / 1000),
    disabled: senders.filter(({ disabled }) => disabled).map(({ name }) => name),
    bySender: Object.fromEntries(senders.map((one) => [one.name, one.lost])),
  };
}

import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasFlag, progress, textOption } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { write, writeBetween } from '../write.ts';
import type { ReceiverReport } from './receiver-child.ts';
import { goodputChart, readmeSection, storyReport, stutterReport, type Story } from './report.ts';
import type { Burst } from './sender-child.ts';
import {
  END_S,
  receiverOf,
  RUNS,
  STOPPED_MS,
  STUTTER_EVERY_MS,
  STUTTER_MS,
  type Access,
  type RunName,
} from './setup.ts';
import { verdict, type Row } from './verdict.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const LOOK_MS = 100;

const isStuttering = hasFlag('stutter');
/** Some receivers alone, in this order. Then nothing is written: a report compares them all. */
const only = textOption('only')
  ?.split(',')
  .map((name) => {
    const receiver = RUNS.find((one) => one === name);
    if (receiver === undefined) throw new Error(`--only takes names of ${RUNS.join(', ')}, with commas.`);
    return receiver;
  });

const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), 'wbp-story-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
const rows: Row[] = [];
try {
  const access = await database.ask<Access>('start');
  for (const name of only ?? RUNS) rows.push(await run(name, access));
  await database.ask('stop');
} finally {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}

const story: Story = { machine, rows };
if (only === undefined && isStuttering) {
  await write('story/stutter.md', stutterReport(story));
} else if (only === undefined) {
  await write('story/results.json', JSON.stringify(story));
  await write('story/report.md', storyReport(story));
  await write('story/goodput.svg', goodputChart(story));
  await writeBetween('../README.md', 'story', readmeSection(story));
}

async function run(name: RunName, access: Access): Promise<Row> {
  const files = mkdtempSync(join(tmpdir(), 'wbp-story-files-'));
  const receiver = new Pinned('story/receiver-child.js', [], { core: SERVER_CORE });
  const sender = new Pinned('story/sender-child.js', [], { core: LOAD_CORE });
  try {
    await database.ask('clear');
    const port = await receiver.ask<number>({ name: receiverOf(name), access, folder: files });
    const burst = sender.ask<Burst>({ port, honorsRetryAfter: name === receiverOf(name) });
    if (isStuttering) await Promise.all([burst, receiver.stutter(STOPPED_MS, STUTTER_EVERY_MS, STUTTER_MS)]);
    const sent = await burst;
    const report = await finalReport(name, receiver, sent);
    const row = verdict(name, sent, report, (await database.ask<string[]>('errors')).length);
    progress(
      `${name}: ${String(row.delivered)} delivered, ${String(row.lost)} lost, ${String(row.attemptsPerDelivery)} attempts each, p99 ${String(row.p99S)} s, the last after ${String(row.clearS)} s, counted ${String(row.goodput)}`,
    );
    return row;
  } finally {
    await sender.stop();
    await receiver.stop();
    rmSync(files, { recursive: true, force: true });
  }
}

/** An inbox still processes what it has acknowledged: as often as is delivered, before the end of the story. */
async function finalReport(
  name: RunName,
  receiver: Pinned,
  { beganMs, outcomes }: Burst,
): Promise<ReceiverReport> {
  const delivered = outcomes.filter(({ deliveredMs }) => deliveredMs !== null).length;
  for (;;) {
    const report = await receiver.ask<ReceiverReport>('report');
    const isOver = Date.now() - beganMs > END_S * 1000;
    if (name !== 'webhook-inbox' || report.handled >= delivered || isOver) return report;
    await wait(LOOK_MS);
  }
}

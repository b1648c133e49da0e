import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { write, writeInReadme } from '../write.ts';
import type { ReceiverReport } from './receiver-child.ts';
import { goodputChart, readmeSection, storyReport, type Story } from './report.ts';
import type { Outcome } from './sender-child.ts';
import { RECEIVERS, type Access, type ReceiverName } from './setup.ts';
import { verdict, type Row } from './verdict.ts';

/** PostgreSQL refuses to run as root; this is `nobody`. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), 'wbp-story-'));
if (uid !== undefined) chownSync(folder, uid, uid);
const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
const rows: Row[] = [];
try {
  const access = await database.ask<Access>('start');
  for (const name of RECEIVERS) rows.push(await run(name, access));
  await database.ask('stop');
} finally {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}

const story: Story = { machine, rows };
await write('story/results.json', JSON.stringify(story));
await write('story/report.md', storyReport(story));
await write('story/goodput.svg', goodputChart(story));
await writeInReadme('story', readmeSection(story));

async function run(name: ReceiverName, access: Access): Promise<Row> {
  const receiver = new Pinned('story/receiver-child.js', [], { core: SERVER_CORE });
  const sender = new Pinned('story/sender-child.js', [], { core: LOAD_CORE });
  try {
    await database.ask('clear');
    const port = await receiver.ask<number>({ name, access });
    const outcomes = await sender.ask<Outcome[]>({ port });
    const report = await receiver.ask<ReceiverReport>('report');
    const row = verdict(name, outcomes, report, (await database.ask<string[]>('errors')).length);
    progress(
      `${name}: ${String(row.delivered)} delivered, ${String(row.lost)} lost, ${String(row.attemptsPerDelivery)} attempts each, p99 ${String(row.p99S)} s, counted ${String(row.goodput)}`,
    );
    return row;
  } finally {
    await sender.stop();
    await receiver.stop();
  }
}

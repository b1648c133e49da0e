import { progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { write } from '../write.ts';
import type { Growth, Size } from './growth-child.ts';
import type { Offer, Received } from './load-child.ts';
import { growthChart, offeredChart, scaleReport, type Offered } from './report.ts';
import type { Sample } from './server-child.ts';

const DEPTHS = [10, 100, 1000, 10_000, 100_000, 1_000_000];
const KEYS = [1, 10, 100, 1000, 10_000, 100_000];
const DEPTH_OF_KEYS = 100_000;
const KEYS_OF_DEPTH = 10;
const OFFERED = [100, 500, 1000, 2000, 5000, 10_000, 20_000];
const SECONDS = 4;
/** Ten workers for 10 ms each: a thousand a second. */
const HANDLING_MS = 10;
const CAPACITY = 50;

const machine = describeMachine();
const waiting: Growth[] = [];
for (const depth of DEPTHS) waiting.push(await grow({ depth, keys: KEYS_OF_DEPTH }));
const keyed: Growth[] = [];
for (const keys of KEYS) keyed.push(await grow({ depth: DEPTH_OF_KEYS, keys }));
const offered: Offered[] = [];
for (const perSecond of OFFERED) offered.push(await offer(perSecond));

const scale = { machine, waiting, keyed, offered };
await write('scale/results.json', JSON.stringify(scale));
await write('scale/report.md', scaleReport(scale));
await write('scale/growth.svg', growthChart(scale));
await write('scale/offered.svg', offeredChart(scale));

async function grow(size: Size): Promise<Growth> {
  const child = new Pinned('scale/growth-child.js', [], {
    core: SERVER_CORE,
    nodeFlags: ['--expose-gc', '--max-old-space-size=8192'],
  });
  try {
    const growth = await child.ask<Growth>(size);
    progress(
      `${String(size.depth)} waiting of ${String(size.keys)} keys: ${growth.microseconds.toFixed(2)} µs, ${growth.bytesPerWaiting.toFixed(0)} bytes, ${growth.isExact ? 'exact' : 'NOT EXACT'}`,
    );
    return growth;
  } finally {
    await child.stop();
  }
}

async function offer(perSecond: number): Promise<Offered> {
  const server = new Pinned('scale/server-child.js', [String(HANDLING_MS), String(CAPACITY)], {
    core: SERVER_CORE,
    nodeFlags: ['--expose-gc'],
  });
  const load = new Pinned('scale/load-child.js', [], { core: LOAD_CORE });
  try {
    const port = await server.ask<number>('start');
    const before = await server.ask<Sample>('sample');
    const received = await load.ask<Received>({ port, perSecond, seconds: SECONDS } satisfies Offer);
    const after = await server.ask<Sample>('sample');
    const row: Offered = {
      perSecond,
      sentPerS: Math.round((received.served + received.refused) / received.seconds),
      servedPerS: Math.round(received.served / received.seconds),
      refusedPerS: Math.round(received.refused / received.seconds),
      failed: received.failed,
      p99Ms: received.p99Ms,
      processorShare: (after.processorSeconds - before.processorSeconds) / received.seconds,
      rssMiB: Math.round(after.rssBytes / 2 ** 20),
      drift: after.drift,
    };
    progress(
      `${String(perSecond)}/s offered: ${String(row.servedPerS)} served, ${String(row.refusedPerS)} refused`,
    );
    return row;
  } finally {
    await load.stop();
    await server.stop();
  }
}

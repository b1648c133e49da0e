import { numberOption, progress } from '../command-line.ts';
import { lineChart } from '../charts.ts';
import { describeMachine, machineLines } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { write } from '../write.ts';
import type { Offer, Received } from './load-child.ts';
import type { Sample } from './server-child.ts';

/** Ten workers for 50 ms each: 200 a second. */
const HANDLING_MS = 50;
const CAPACITY = 100;
const DRAIN_PER_S = 200;
const OVERLOAD = 5;
const SAMPLES = 60;
/** What a run of any length may leave behind. */
const HEAP_MARGIN_BYTES = 5 * 2 ** 20;
/** The load of the beginning: until the compiler is done and the pools are full, memory grows for good reasons. */
const WARM_UP_S = 10;

const minutes = numberOption('minutes', 10);
const seconds = Math.round(minutes * 60);
const machine = describeMachine();
const server = new Pinned('scale/server-child.js', [String(HANDLING_MS), String(CAPACITY)], {
  core: SERVER_CORE,
  nodeFlags: ['--expose-gc'],
});
const load = new Pinned('scale/load-child.js', [], { core: LOAD_CORE });
try {
  const port = await server.ask<number>('start');
  const offer: Offer = { port, perSecond: OVERLOAD * DRAIN_PER_S, seconds };
  await load.ask<Received>({ ...offer, seconds: WARM_UP_S });
  const before = await server.ask<Sample>('settle');

  const samples: Sample[] = [];
  let looking = Promise.resolve();
  const timer = setInterval(
    () => {
      looking = server.ask<Sample>('sample').then((sample) => {
        samples.push(sample);
        progress(`${mib(sample.rssBytes)} RSS, ${mib(sample.heapBytes)} heap, drift ${String(sample.drift)}`);
      });
    },
    (seconds * 1000) / SAMPLES,
  );
  const received = await load.ask<Received>(offer);
  clearInterval(timer);
  await looking;
  const after = await server.ask<Sample>('settle');
  await report(before, samples, after, received);
} finally {
  await load.stop();
  await server.stop();
}

async function report(
  before: Sample,
  samples: readonly Sample[],
  after: Sample,
  received: Received,
): Promise<void> {
  const second = seconds / SAMPLES;
  const grown = after.heapBytes - before.heapBytes;
  const drift = Math.max(...samples.map((sample) => sample.drift), after.drift);
  const left = after.handles - before.handles;
  const rows = [
    ['RSS after the warm-up, and at the end', `${mib(before.rssBytes)}, ${mib(after.rssBytes)}`],
    ['most RSS under load', mib(Math.max(...samples.map(({ rssBytes }) => rssBytes)))],
    ['heap after collection, before and after', `${mib(before.heapBytes)}, ${mib(after.heapBytes)}`],
    [
      'growth of the heap',
      `${mib(grown)}: ${grown <= HEAP_MARGIN_BYTES ? 'met' : '**missed**'} (≤ ${mib(HEAP_MARGIN_BYTES)})`,
    ],
    ['drift of the totals, at the most', `${String(drift)}: ${drift === 0 ? 'met' : '**missed**'} (0)`],
    ['handles left', `${String(left)}: ${left <= 0 ? 'met' : '**missed**'} (0)`],
    [
      'served, refused, failed',
      [received.served, received.refused, received.failed].map((n) => n.toLocaleString('en')).join(', '),
    ],
  ];
  for (const [what = '', value = ''] of rows) process.stdout.write(`${what}: ${value}\n`);
  await write('scale/soak.json', JSON.stringify({ machine, minutes, before, after, received, samples }));
  await write(
    'scale/soak.svg',
    lineChart(
      'Memory under five times overload',
      [
        { label: 'RSS', points: samples.map((s, i) => [i * second, s.rssBytes / 2 ** 20]), isOurs: true },
        { label: 'heap', points: samples.map((s, i) => [i * second, s.heapBytes / 2 ** 20]), isOurs: false },
      ],
      { x: 'seconds', y: 'MiB' },
    ),
  );
  await write(
    'scale/soak.md',
    [
      '# A soak at five times overload',
      '',
      `Written by \`npm run bench:soak\`: ${String(minutes)} minutes at ${String(OVERLOAD * DRAIN_PER_S)} requests a second, where ${String(DRAIN_PER_S)} can be handled.`,
      '',
      ...machineLines(machine),
      '',
      '| | |',
      '| --- | --- |',
      ...rows.map(([what = '', value = '']) => `| ${what} | ${value} |`),
      '',
      '![Memory over the run](soak.svg)',
      '',
    ].join('\n'),
  );
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

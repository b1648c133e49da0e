import { lineChart } from '../charts.ts';
import { machineLines, type Machine } from '../machine.ts';
import type { Growth } from './growth-child.ts';

/** What came of a load, at one rate. */
export interface Offered {
  readonly perSecond: number;
  readonly sentPerS: number;
  readonly servedPerS: number;
  readonly refusedPerS: number;
  readonly failed: number;
  readonly p99Ms: number;
  readonly processorShare: number;
  readonly rssMiB: number;
  readonly drift: number;
}

export interface Scale {
  readonly machine: Machine;
  readonly waiting: readonly Growth[];
  readonly keyed: readonly Growth[];
  readonly offered: readonly Offered[];
}

export function growthChart({ waiting, keyed }: Scale): string {
  return lineChart(
    'What one delivery costs, through the whole queue',
    [
      {
        label: 'by waiting deliveries',
        points: waiting.map((row) => [row.depth, row.microseconds]),
        isOurs: true,
      },
      { label: 'by keys', points: keyed.map((row) => [row.keys, row.microseconds]), isOurs: false },
    ],
    { x: 'how many', y: 'µs', isLogX: true },
  );
}

export function offeredChart({ offered }: Scale): string {
  return lineChart(
    'What becomes of what is offered, when 1,000 a second can be handled',
    [
      { label: 'served', points: offered.map((row) => [row.perSecond, row.servedPerS]), isOurs: true },
      { label: 'refused', points: offered.map((row) => [row.perSecond, row.refusedPerS]), isOurs: false },
    ],
    { x: 'offered per second', y: 'per second', isLogX: true },
  );
}

export function scaleReport({ machine, waiting, keyed, offered }: Scale): string {
  return [
    '# How it grows',
    '',
    'Written by `npm run bench:scale`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    '## In waiting deliveries, of 10 keys',
    '',
    'One admission and one release each; "exact" means that every delivery started once and in its turn, and that the totals added up all the way.',
    '',
    '| waiting | µs | bytes for each | exact |',
    '| ---: | ---: | ---: | --- |',
    ...waiting.map((row) => `| ${count(row.depth)} | ${growthCells(row)}`),
    '',
    '## In keys, at 100,000 waiting',
    '',
    '| keys | µs | bytes for each | exact |',
    '| ---: | ---: | ---: | --- |',
    ...keyed.map((row) => `| ${count(row.keys)} | ${growthCells(row)}`),
    '',
    '![Cost by waiting deliveries and by keys](growth.svg)',
    '',
    '## In requests offered',
    '',
    '`withBackpressure` before a handler of 10 ms, 10 concurrently, 50 queued: a thousand a second can be handled.',
    '',
    '| offered per second | answered | served | refused | failed | p99 | processor | RSS | drift |',
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...offered.map(
      (row) =>
        `| ${count(row.perSecond)} | ${count(row.sentPerS)} | ${count(row.servedPerS)} | ${count(row.refusedPerS)} | ${String(row.failed)} | ${String(row.p99Ms)} ms | ${(row.processorShare * 100).toFixed(0)} % | ${String(row.rssMiB)} MiB | ${String(row.drift)} |`,
    ),
    '',
    '![Served and refused by what is offered](offered.svg)',
    '',
  ].join('\n');
}

function growthCells({ depth, microseconds, bytesPerWaiting, isExact }: Growth): string {
  // Below that, the noise of the heap is larger than what is measured.
  const bytes = depth < 1000 ? '–' : bytesPerWaiting.toFixed(0);
  return `${microseconds.toFixed(2)} | ${bytes} | ${isExact ? 'yes' : '**no**'} |`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

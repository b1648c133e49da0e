import { lineChart } from '../charts.ts';
import { machineLines, type Machine } from '../machine.ts';
import * as setup from './setup.ts';
import type { Row } from './verdict.ts';

const IGNORED = 'webhook-backpressure-ignored';
const INBOX = 'webhook-inbox';
/** The axis of seconds is divided into so many parts. */
const TICKS = 4;

/** What `results.json` holds. */
export interface Story {
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/**
 * One line for each receiver, up to the last confirmed delivery. Senders that ignore `Retry-After` look the same, and an
 * inbox confirms all deliveries as they arrive.
 */
export function goodputChart({ rows }: Story): string {
  const receivers = rows.filter(({ name }) => name !== IGNORED && name !== INBOX);
  const lastS = Math.max(...receivers.map(({ perSecond }) => perSecond.findLastIndex((count) => count > 0)));
  const endS = Math.ceil((lastS + 1) / TICKS) * TICKS;
  const lines = receivers.map(({ name, perSecond }) => ({
    label: name,
    points: perSecond.slice(0, endS + 1).map((count, second) => [second, count] as const),
    isOurs: name === 'webhook-backpressure',
  }));
  return lineChart('Deliveries confirmed to their sender, per second', lines, {
    x: 'seconds since the burst began',
    y: 'per second',
  });
}

/** The rows of the README: the usual beginning, the best of the peers, and ours. */
const IN_README: readonly setup.RunName[] = [
  'nothing',
  'express-queue',
  IGNORED,
  'webhook-backpressure',
  INBOX,
];

/** The part of the README between the markers. */
export function readmeSection({ rows, machine }: Story): string {
  return [
    '',
    '',
    `${setup.DELIVERIES.toLocaleString('en')} deliveries in ${String(setup.BURST_S)} s. The handler needs one of ${String(setup.POOL)} PostgreSQL connections: about ${String(setup.DRAIN_RATE)} a second. Senders hang up after ${String(setup.SENDER_TIMEOUT_MS / 1000)} s.`,
    '',
    '| Receiver | Useful work | p50 | All done | Lost |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows
      .filter(({ name }) => IN_README.includes(name))
      .map(
        (row) =>
          `| ${labelOf(row)} | ${usefulWork(row)} | ${timeOf(row.p50S)} | ${clearOf(row)} | ${row.lost.toLocaleString('en')} |`,
      ),
    '',
    `Useful work: the part done for senders that still listened. p50: from first attempt to confirmation. [All receivers](bench/story/report.md), ${machine.date}, \`npm run bench:story\`.`,
    '',
    '',
  ].join('\n');
}

function shortTable(rows: readonly Row[]): string[] {
  return [
    '| | useful work | p50 | p99 | attempts each | all done after | delivered | lost |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      (row) =>
        `| ${labelOf(row)} | ${usefulWork(row)} | ${timeOf(row.p50S)} | ${timeOf(row.p99S)} | ${row.attemptsPerDelivery.toFixed(2)} | ${clearOf(row)} | ${row.delivered.toLocaleString('en')} | ${row.lost.toLocaleString('en')} |`,
    ),
  ];
}

function usefulWork({ goodput }: Row): string {
  return `${(100 * goodput).toFixed(0)} %`;
}

function clearOf({ lost, clearS }: Row): string {
  return timeOf(lost > 0 ? null : clearS);
}

function timeOf(seconds: number | null): string {
  if (seconds === null) return '–';
  return seconds < 1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
}

/** The same burst on a receiver that stutters. */
export function stutterReport(story: Story): string {
  return storyReport(story, [
    '# The burst on a process that stutters',
    '',
    'Written by `npm run bench:story -- --stutter`.',
    '',
    `The receiver's process is stopped (SIGSTOP) for ${String(setup.STOPPED_MS)} ms of every ${String(setup.STUTTER_EVERY_MS / 1000)} s during the first ${String(setup.STUTTER_MS / 1000)} s, like a container that has used up its CPU quota. Everything else is as in [the story](report.md).`,
  ]);
}

const HEAD = ['# The burst on a real database', '', 'Written by `npm run bench:story`.'];

export function storyReport({ machine, rows }: Story, head: readonly string[] = HEAD): string {
  return [
    ...head,
    '',
    ...machineLines(machine),
    '',
    `A burst of ${String(setup.DELIVERIES)} deliveries in ${String(setup.BURST_S)} s. Each is stored in a transaction that holds one of the ${String(setup.POOL)} connections of pg's default pool for ${String(setup.QUERY_S * 1000)} ms and what its own queries take. A sender without an answer after ${String(setup.SENDER_TIMEOUT_MS / 1000)} s hangs up. It makes up to ${String(setup.MAX_ATTEMPTS)} attempts: at the second that Retry-After names, else after ${setup.BACKOFF_S.join(', ')} s, give or take 20 %. After ${String(setup.END_S)} s no further attempt begins, and what has not been delivered is lost.`,
    '',
    ...shortTable(rows),
    '',
    '"Useful work" is the deliveries confirmed to their sender ÷ the deliveries that the database processed. The rest was done for senders that had hung up, and repeated at their retry. p50 and p99 are from the first attempt to the confirmation, "all done" is when the last delivery was confirmed and processed. The inbox confirms a delivery when it is in its file, on a disk, and processes it later.',
    '',
    '| | refused | timed out | most attempts for one | processed | errors of the receiver | errors in the log of the database | most RSS |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      (row) =>
        `| ${labelOf(row)} | ${String(row.refused)} | ${String(row.timedOut)} | ${String(row.maxAttempts)} | ${String(row.handled)} | ${String(row.serverErrors)} | ${String(row.databaseErrors)} | ${String(row.peakRssMiB)} MiB |`,
    ),
    '',
    ...(head === HEAD ? ['![Deliveries confirmed to their sender in each second](goodput.svg)', ''] : []),
    'How each is configured, and why: [the rules of measuring](../README.md#the-peers).',
    '',
  ].join('\n');
}

const LABELS: Readonly<Partial<Record<setup.RunName, string>>> = {
  nothing: 'no protection',
  'under-pressure': 'under-pressure, in Fastify',
  'p-limit': 'p-limit by hand',
  [IGNORED]: '**middleware**, `Retry-After` ignored',
  'webhook-backpressure': '**middleware**, `Retry-After` honored',
  [INBOX]: '**inbox**, in SQLite',
};

function labelOf({ name }: Row): string {
  return LABELS[name] ?? name;
}

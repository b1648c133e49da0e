import { lineChart } from '../charts.ts';
import { machineLines, type Machine } from '../machine.ts';
import * as setup from './setup.ts';
import type { Row } from './verdict.ts';

const IGNORED = 'webhook-backpressure-ignored';
/** The axis of seconds is divided into so many parts. */
const TICKS = 4;

/** What `results.json` holds. */
export interface Story {
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/** One line for each receiver, up to the last confirmed delivery. Senders that ignore `Retry-After` look the same. */
export function goodputChart({ rows }: Story): string {
  const receivers = rows.filter(({ name }) => name !== IGNORED);
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

/** The part of the README between the markers. */
export function readmeSection(story: Story): string {
  const { rows, machine } = story;
  const ignored = rows.some(({ name }) => name === IGNORED)
    ? ' In the last row, senders ignore `Retry-After` and follow their own backoff.'
    : '';
  return [
    '',
    '',
    `${setup.DELIVERIES.toLocaleString('en')} deliveries in ${String(setup.BURST_S)} s reach an Express app whose handler holds one of the ${String(setup.POOL)} connections in pg's default pool. PostgreSQL can process about ${String(setup.DRAIN_RATE)} of them per second. Senders hang up after ${String(setup.SENDER_TIMEOUT_MS / 1000)} s and retry after \`Retry-After\`, or with exponential backoff if there is none.`,
    '',
    ...readmeTable(rows),
    '',
    `Useful work is deliveries confirmed to the sender ÷ deliveries the database processed; the rest was done for senders that had already hung up.${ignored} Measured by \`npm run bench:story\` (${machine.date}, ${machine.processor}, Node ${machine.node}; [full report](bench/story/report.md)).`,
    '',
    '![Deliveries confirmed to their sender per second, for each receiver](bench/story/goodput.svg)',
    '',
    '',
  ].join('\n');
}

function readmeTable(rows: readonly Row[]): string[] {
  return [
    '| Receiver | Lost | Attempts per delivery | All delivered after | Useful work |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const clearS = secondsOf(row.lost > 0 ? null : row.clearS);
      return `| ${labelOf(row)} | ${row.lost.toLocaleString('en')} | ${row.attemptsPerDelivery.toFixed(2)} | ${clearS} | ${(100 * row.goodput).toFixed(0)} % |`;
    }),
  ];
}

function shortTable(rows: readonly Row[]): string[] {
  return [
    '| | delivered | lost | attempts each | p50 | p99 | all delivered after | useful work |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const name = labelOf(row);
      return `| ${name} | ${row.delivered.toLocaleString('en')} | ${row.lost.toLocaleString('en')} | ${row.attemptsPerDelivery.toFixed(2)} | ${secondsOf(row.p50S)} | ${secondsOf(row.p99S)} | ${secondsOf(row.lost > 0 ? null : row.clearS)} | ${(100 * row.goodput).toFixed(0)} % |`;
    }),
  ];
}

function secondsOf(seconds: number | null): string {
  return seconds === null ? '–' : `${seconds.toFixed(1)} s`;
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
    '"Useful work" is the deliveries confirmed to their sender ÷ the deliveries that the database processed. The rest was done for senders that had hung up, and repeated at their retry.',
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
  'webhook-backpressure': '**webhook-backpressure**',
  'webhook-backpressure-ignored': '**webhook-backpressure**, `Retry-After` ignored',
};

function labelOf({ name }: Row): string {
  return LABELS[name] ?? name;
}

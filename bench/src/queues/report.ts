import { machineLines, type Machine } from '../machine.ts';
import { median } from '../statistics.ts';

/** What a side did in one round. */
export interface Turn {
  readonly side: string;
  /** Acknowledged deliveries per second of processor time, of client and server. */
  readonly perProcessorSecond: number;
  /** Acknowledged deliveries per second. */
  readonly perSecond: number;
  readonly clientMicroseconds: number;
  readonly serverMicroseconds: number;
}

/** The medians of a side. */
export interface Row extends Turn {
  /** Ours ÷ this side, per second of processor time; the smallest and the largest of the rounds. */
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
}

/** A backlog that a side has drained in one round. */
export interface DrainTurn {
  readonly side: string;
  /** From the first call of the handler to the last. */
  readonly perSecond: number;
  /** Deliveries per second of processor time, of client and server. */
  readonly perProcessorSecond: number;
}

/** The medians of a side. */
export interface DrainRow extends DrainTurn {
  /** Ours ÷ this side, per second, and the smallest and the largest of the rounds; then per second of processor time. */
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
  readonly ratioOfProcessorTime: number;
}

/** What was drained, and how. */
export interface Backlog {
  readonly deliveries: number;
  readonly batch: number;
  readonly rows: readonly DrainRow[];
}

const TARGET = 1.5;

export function drainRowsOf(turns: readonly DrainTurn[]): DrainRow[] {
  const of = (side: string): DrainTurn[] => turns.filter((turn) => turn.side === side);
  const middle = (side: string, value: (turn: DrainTurn) => number): number => median(of(side).map(value));
  const rate = (turn: DrainTurn): number => turn.perSecond;
  const processorRate = (turn: DrainTurn): number => turn.perProcessorSecond;
  return [...new Set(turns.map(({ side }) => side))].map((side) => {
    const ratios = of(side).map((turn, at) => rate(of('ours')[at] ?? turn) / rate(turn));
    return {
      side,
      perSecond: middle(side, rate),
      perProcessorSecond: middle(side, processorRate),
      ratio: middle('ours', rate) / middle(side, rate),
      min: Math.min(...ratios),
      max: Math.max(...ratios),
      ratioOfProcessorTime: middle('ours', processorRate) / middle(side, processorRate),
    };
  });
}

export function rowsOf(turns: readonly Turn[]): Row[] {
  const of = (side: string): Turn[] => turns.filter((turn) => turn.side === side);
  const middle = (side: string, value: (turn: Turn) => number): number => median(of(side).map(value));
  const rate = (turn: Turn): number => turn.perProcessorSecond;
  return [...new Set(turns.map(({ side }) => side))].map((side) => {
    const ratios = of(side).map((turn, at) => rate(of('ours')[at] ?? turn) / rate(turn));
    return {
      side,
      perProcessorSecond: middle(side, rate),
      perSecond: middle(side, (turn) => turn.perSecond),
      clientMicroseconds: middle(side, (turn) => turn.clientMicroseconds),
      serverMicroseconds: middle(side, (turn) => turn.serverMicroseconds),
      ratio: middle('ours', rate) / middle(side, rate),
      min: Math.min(...ratios),
      max: Math.max(...ratios),
    };
  });
}

export function queuesReport(machine: Machine, rows: readonly Row[], backlog: Backlog): string {
  const peers = rows.filter(({ side }) => side !== 'ours');
  const least = Math.min(...peers.map(({ ratio }) => ratio));
  return [
    '# Storing and draining deliveries, beside queues',
    '',
    'Written by `npm run bench:queues`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    '## Storing',
    '',
    `A receiver stores deliveries of 1 kB, which 64 senders send concurrently. Nothing is processed. Commits wait for the disk on every side: PostgreSQL 18 with its defaults, Redis with \`appendfsync always\`. Ours deduplicates ids and keeps the capacity, BullMQ deduplicates ids, and pg-boss neither. Processor time is that of client and server.`,
    '',
    '| | acknowledged per second of processor time | ours ÷ this | rounds | client, µs each | server, µs each | acknowledged per second |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(
      (row) =>
        `| ${row.side} | ${row.perProcessorSecond.toFixed(0)} | ${row.ratio.toFixed(2)} | ${row.min.toFixed(2)} to ${row.max.toFixed(2)} | ${row.clientMicroseconds.toFixed(0)} | ${row.serverMicroseconds.toFixed(0)} | ${row.perSecond.toFixed(0)} |`,
    ),
    '',
    `Ours ÷ the better one: ${least.toFixed(2)}. The target is ${String(TARGET)}: ${least >= TARGET ? 'reached' : 'missed'}.`,
    '',
    '## Draining a backlog',
    '',
    `A worker handles ${String(backlog.deliveries)} deliveries of 1 kB that are stored in PostgreSQL, by handlers that do nothing. Ours with \`concurrency: ${String(backlog.batch)}\`. graphile-worker with \`concurrentJobs: ${String(backlog.batch)}\`, \`localQueue: { size: ${String(backlog.batch)} }\` and \`completeJobBatchDelay: 0\`. pg-boss with \`batchSize: ${String(backlog.batch)}\` and \`burstWhenBatchFull: true\`: its handler gets all of a batch, and is called ${String(backlog.deliveries / backlog.batch)} times. Everything else is at its default. Ours takes keys in turn, remembers completed ids, and gives the deliveries of a worker that died to others within seconds; graphile-worker keeps such jobs locked for 4 hours, and pg-boss for 15 minutes.`,
    '',
    '| | handled per second | ours ÷ this | rounds | handled per second of processor time | ours ÷ this |',
    '| --- | --- | --- | --- | --- | --- |',
    ...backlog.rows.map(
      (row) =>
        `| ${row.side} | ${row.perSecond.toFixed(0)} | ${row.ratio.toFixed(2)} | ${row.min.toFixed(2)} to ${row.max.toFixed(2)} | ${row.perProcessorSecond.toFixed(0)} | ${row.ratioOfProcessorTime.toFixed(2)} |`,
    ),
    '',
  ].join('\n');
}

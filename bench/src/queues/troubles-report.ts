import { machineLines, type Machine } from '../machine.ts';

/** Stored by default. */
export const PER_SECOND = 500;
/** Of a handler, so that a worker has some when it is killed. */
export const HANDLING_MS = 50;
export const WARM_S = 2;
export const CLEAN_S = 5;
export const TROUBLE_S = 8;
/** How long after the last delivery was stored. */
export const PATIENCE_S = 30;

/** How one side got through one trouble. */
export interface Cell {
  readonly side: string;
  readonly trouble: string;
  readonly cleanPerSecond: number;
  /** The 99th percentile of the time from the acknowledgement to the handler. */
  readonly cleanMs: number;
  /** In the trouble. */
  readonly perSecond: number;
  readonly storedPerSecond: number;
  readonly ms: number;
  /** From the end of the trouble until all that was acknowledged before it is handled. */
  readonly clearedS: number;
  /** Acknowledged and not handled. */
  readonly lost: number;
  readonly twice: number;
  /** Not acknowledged, because the call failed. */
  readonly refused: number;
  /** Workers that ended by themselves. */
  readonly exits: number;
}

export function troublesReport(machine: Machine, cells: readonly Cell[]): string {
  return [
    '# Queues in trouble',
    '',
    'Written by `npm run bench:troubles`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    `A process stores ${String(PER_SECOND)} deliveries of 1 kB per second in PostgreSQL, and two workers handle them, each in ${String(HANDLING_MS)} ms: ${String(WARM_S)} s that do not count, ${String(CLEAN_S)} s undisturbed, ${String(TROUBLE_S)} s with the trouble, ${String(CLEAN_S)} s after it. Then all that was acknowledged has ${String(PATIENCE_S)} s to be handled. The troubles are those of hardbyte/postgresql-job-queue-benchmarking, much shorter: five that break something, and four that press.`,
    '',
    '| | | handled per second, before | in the trouble | stored per second in it | p99 before, ms | p99 in it, ms | cleared after, s | not handled | handled twice | refused | workers that exited |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...cells.map(
      (cell) =>
        `| ${cell.trouble} | ${cell.side} | ${cell.cleanPerSecond.toFixed(0)} | ${cell.perSecond.toFixed(0)} | ${cell.storedPerSecond.toFixed(0)} | ${ms(cell.cleanMs)} | ${ms(cell.ms)} | ${Number.isFinite(cell.clearedS) ? cell.clearedS.toFixed(1) : 'never'} | ${String(cell.lost)} | ${String(cell.twice)} | ${String(cell.refused)} | ${String(cell.exits)} |`,
    ),
    '',
    'Deliveries that a killed worker held are given to the other one within seconds by ours; graphile-worker keeps such jobs locked for 4 hours, and pg-boss for 15 minutes. "Refused" were not acknowledged, so a sender sends them again.',
    '',
  ].join('\n');
}

function ms(value: number): string {
  // Nothing was acknowledged.
  if (Number.isNaN(value)) return '–';
  return Number.isFinite(value) ? value.toFixed(0) : 'never';
}

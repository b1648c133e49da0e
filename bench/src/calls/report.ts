import { machineLines, type Machine } from '../machine.ts';
import { median } from '../statistics.ts';
import {
  ANSWER_MS,
  BURST,
  CALLS,
  IDEAL_S,
  PER_SECOND,
  PROCESSES,
  SETTINGS,
  SIDES,
  type SideName,
} from './setup.ts';

/** One side in one round. */
export interface Turn {
  readonly side: SideName;
  readonly ok: number;
  readonly failed: number;
  readonly delayed: number;
  readonly refused: number;
  readonly seconds: number;
}

/** The medians of a side. */
export interface Row {
  readonly side: SideName;
  readonly answered: number;
  readonly refused: number;
  readonly mostRefused: number;
  readonly delayed: number;
  readonly seconds: number;
  readonly timesIdeal: number;
}

export function rowsOf(turns: readonly Turn[]): Row[] {
  return SIDES.map((side) => {
    const own = turns.filter((turn) => turn.side === side);
    const middle = (of: (turn: Turn) => number): number => median(own.map(of));
    const seconds = middle((turn) => turn.seconds);
    return {
      side,
      answered: Math.min(...own.map(({ ok }) => ok)),
      refused: middle((turn) => turn.refused),
      mostRefused: Math.max(...own.map(({ refused }) => refused)),
      delayed: middle((turn) => turn.delayed),
      seconds,
      timesIdeal: seconds / IDEAL_S,
    };
  });
}

export function callsReport(machine: Machine, rows: readonly Row[], rounds: number): string {
  return [
    '# Calls of a limited API',
    '',
    'Written by `npm run bench:calls`.',
    '',
    ...machineLines(machine),
    '',
    `${String(CALLS)} calls from ${String(PROCESSES)} processes, all made at one moment, to an API that allows ${String(PER_SECOND)} per second with a burst of ${String(BURST)}: a token bucket, which refuses with 429 and a \`Retry-After\` of whole seconds, and takes ${String(ANSWER_MS)} ms for others. The last call cannot be accepted before ${String(IDEAL_S)} s. Medians of ${String(rounds)} rounds.`,
    '',
    '| Client | Answered | Refused calls | Most in a round | Delayed calls | Time | Time ÷ ideal |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      ({ side, answered, refused, mostRefused, delayed, seconds, timesIdeal }) =>
        `| ${side} | ${String(answered)} | ${String(refused)} | ${String(mostRefused)} | ${String(delayed)} | ${seconds.toFixed(1)} s | ${timesIdeal.toFixed(2)} |`,
    ),
    '',
    'Refused calls cost the API and count against its limit in some. "Delayed calls": times that a call would have waited for more than 5 s, so that ours threw `RetryAfter` and a handler would have been free; the benchmark makes the call again after these seconds. Each process has made one call before. With 80 % of the limit, ours needs 1.25 times the ideal time, less the burst.',
    '',
    '| Client | Settings |',
    '| --- | --- |',
    ...SIDES.map((side) => `| ${side} | ${SETTINGS[side]} |`),
    '',
  ].join('\n');
}

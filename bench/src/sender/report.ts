import { machineLines, type Machine } from '../machine.ts';
import { median } from '../statistics.ts';
import type { Honored } from './retrying-child.ts';

/** What a side did in one round. */
export interface Turn {
  readonly side: string;
  /** Events that were sent, stored, delivered and settled, per second. */
  readonly perSecond: number;
  /** Per second of processor time of the process that sends and delivers. */
  readonly perProcessorSecond: number;
}

/** Requests of the 98 endpoints in the same time. */
export interface Neighbors {
  readonly alone: number;
  readonly besidesBad: number;
}

/** What was measured. */
export interface Measured {
  readonly turns: readonly Turn[];
  readonly neighbors: Neighbors;
  readonly honored: readonly Honored[];
  readonly localNs: number;
  /** p99 of a call of 1,000 a second, of four processes. */
  readonly sharedMs: number;
}

/** The medians of a side. */
interface Row extends Turn {
  /** This side ÷ BullMQ, per second; the smallest and the largest of the rounds. */
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
}

/** All figures of a run. */
export interface Figures extends Omit<Measured, 'turns'> {
  readonly rows: readonly Row[];
}

const PEER = 'BullMQ';
const MIN_RATIO = 2;
const TARGETS = new Map([
  ['memory', 5000],
  ['SQLite', 3000],
  ['PostgreSQL', 1500],
]);

export function figuresOf({ turns, ...others }: Measured): Figures {
  const of = (side: string): Turn[] => turns.filter((turn) => turn.side === side);
  const rows = [...new Set(turns.map(({ side }) => side))].map((side) => {
    const own = of(side);
    const ratios = own.map(({ perSecond }, at) => perSecond / (of(PEER)[at]?.perSecond ?? NaN));
    return {
      side,
      perSecond: median(own.map((turn) => turn.perSecond)),
      perProcessorSecond: median(own.map((turn) => turn.perProcessorSecond)),
      ratio: median(ratios),
      min: Math.min(...ratios),
      max: Math.max(...ratios),
    };
  });
  return { rows, ...others };
}

export function senderReport(machine: Machine, figures: Figures): string {
  const { rows, neighbors, honored, localNs, sharedMs } = figures;
  const lost = 1 - neighbors.besidesBad / neighbors.alone;
  return [
    '# The sender',
    '',
    'Written by `npm run bench:sender`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    '## Deliveries',
    '',
    'One process sends events of 1 kB and delivers them to ten endpoints of a fast local receiver, with up to 100 requests in flight. Each event is stored, signed, delivered and settled. BullMQ: a worker with a concurrency of 100 that calls `fetch` and signs by hand, on Redis with `appendfsync everysec`. PostgreSQL and SQLite wait for the disk.',
    '',
    '| | per second | target | ÷ BullMQ | rounds | per second of processor time |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(({ side, perSecond, ratio, min, max, perProcessorSecond }) => {
      const target = TARGETS.get(side);
      const wanted = target === undefined ? '' : `≥ ${String(target)}, ratio ≥ ${String(MIN_RATIO)}`;
      return `| ${side} | ${perSecond.toFixed(0)} | ${wanted} | ${ratio.toFixed(2)} | ${min.toFixed(2)} to ${max.toFixed(2)} | ${perProcessorSecond.toFixed(0)} |`;
    }),
    '',
    '## Retry-After',
    '',
    "Each request is refused once with 429 and a Retry-After. A retry is early if it arrives more than 1 ms before that time. RetryAgent is undici's, with its defaults and `methods: ['POST']`.",
    '',
    '| | Retry-After | retries | early | the earliest | the latest |',
    '| --- | --- | --- | --- | --- | --- |',
    ...honored.map(
      ({ side, seconds, isDate, retries, early, earliestMs, latestMs }) =>
        `| ${side} | ${isDate ? 'a date in ' : ''}${String(seconds)} s | ${String(retries)} | ${((100 * early) / retries).toFixed(0)} % | ${earliestMs > 0 ? `${earliestMs.toFixed(0)} ms early` : `${(-earliestMs).toFixed(0)} ms late`} | ${latestMs.toFixed(0)} ms late |`,
    ),
    '',
    '## Bad neighbors',
    '',
    `Of 100 endpoints with 10 requests a second each and more events than that, one never answers and one always answers 429. The other 98 got ${String(neighbors.besidesBad)} requests, and ${String(neighbors.alone)} in the same time without them: ${(100 * lost).toFixed(2)} % less. The target is less than 2 %.`,
    '',
    '## Buckets',
    '',
    `Taking a token of one of 1,000 buckets of the process takes ${localNs.toFixed(0)} ns. The target is 300 ns. With the buckets in Redis, shared by four processes that take 1,000 tokens a second of 100 endpoints, p99 is ${sharedMs.toFixed(2)} ms. The target is 2 ms.`,
    '',
  ].join('\n');
}

import { machineLines, type Machine } from '../machine.ts';
import { median } from '../statistics.ts';
import { BURST_S, EVENTS, PEERS, QUEUE, type Run, SPEED } from './peers-setup.ts';
import { HANDLING_MS, WORKERS } from './setup.ts';

/** What came of one burst. */
export interface Row extends Run {
  readonly round: number;
  readonly delivered: number;
  readonly lost: number;
  readonly attempts: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly maxLateMs: number;
  /** Different deliveries by how often they were handled. */
  readonly once: number;
  readonly more: number;
  readonly never: number;
  /** Acknowledged and never handled, at least. */
  readonly unhandled: number;
  readonly p50S: number;
  readonly p99S: number;
  readonly doneS: number;
  /** Senders that have disabled the endpoint. */
  readonly disabled: readonly string[];
  /** Lost, by sender. */
  readonly bySender: Readonly<Record<string, number>>;
}

type Figure = (row: Row) => number;
const FIGURES: readonly (readonly [title: string, figure: Figure, isTime?: true])[] = [
  ['fewer lost', ({ lost }) => lost],
  ['fewer lost of GitHub', ({ bySender }) => bySender['github'] ?? NaN],
  ['fewer handled more than once', ({ more }) => more],
  ['fewer never handled', ({ never }) => never],
  ['a shorter p50', ({ p50S }) => p50S, true],
  ['a shorter p99', ({ p99S }) => p99S, true],
  ['done earlier', ({ doneS }) => doneS, true],
  ['fewer requests', ({ attempts }) => attempts],
];
/** A smaller difference is that of two runs of one receiver. */
const SAME = 0.05;

export function peersReport(machine: Machine, rows: readonly Row[]): string {
  const calm = rows.filter(({ isKilled }) => isKilled !== true);
  const inOrder = (some: readonly Row[]): Row[] =>
    [...new Set(some.map(nameOf))].flatMap((name) => some.filter((row) => nameOf(row) === name));
  return [
    '# The same burst at receivers and their peers',
    '',
    'Written by `npm run bench:peers`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    `${count(EVENTS)} deliveries in ${String(BURST_S)} s, a quarter each from GitHub, Stripe, Shopify and Svix, [sent as they send](../../docs/fire.md) and signed. GitHub never retries, Stripe and Shopify retry by their schedules, Svix honors \`Retry-After\`, and Shopify disables the endpoint after 8 failures in a row. A handler needs one of ${String(WORKERS)} connections for ${String(HANDLING_MS)} ms: ${String(Math.floor((1000 * WORKERS) / HANDLING_MS))} a second. The waits of the senders are divided by ${String(SPEED)}, \`Retry-After\` included, and their timeouts are not.`,
    '',
    `Each receiver is an app of Express that verifies signatures. express-queue and the 429 by hand have a queue of ${String(QUEUE)}, which is processed in 4 s; a peer whose operator does not know that number does worse. BullMQ gets the id of the delivery as \`jobId\`, and its worker runs in the same process. Ours have their defaults; the inbox is in SQLite.`,
    '',
    '| | run | delivered | lost | handled once | more often | never | p50 | p99 | all done | disabled |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...inOrder(calm).map((row) =>
      cells([
        ...[nameOf(row), row.round, row.delivered, row.lost, row.once, row.more, row.never],
        ...[row.p50S, row.p99S, row.doneS].map(time),
        row.disabled.join(', ') || '–',
      ]),
    ),
    '',
    'Lost: as the sender concludes. p50 and p99: to the acknowledgement, from the start of the first attempt, with waits as long as the sender says. All done: acknowledged or given up, and handled, on the real clock.',
    '',
    '| | run | lost: github | stripe | shopify | svix | requests | answers | an attempt late by |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |',
    ...inOrder(calm).map((row) =>
      cells([
        ...[nameOf(row), row.round, ...Object.values(row.bySender), row.attempts],
        Object.entries(row.answers)
          .map(([answer, times]) => `${answer} ${count(times)}`)
          .join(', '),
        time(row.maxLateMs / 1000),
      ]),
    ),
    '',
    '## Killed in the middle of the burst',
    '',
    '2.5 s after the burst has begun, the receiver and its Redis get SIGKILL, and are started again on the same files. While it is down, senders retry or lose deliveries as they do. No receiver can help that; it must not lose acknowledged ones.',
    '',
    '| | run | delivered | acknowledged, never handled | handled more than once | lost | all done |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...inOrder(rows.filter(({ isKilled }) => isKilled)).map((row) =>
      cells([nameOf(row), row.round, row.delivered, row.unhandled, row.more, row.lost, time(row.doneS)]),
    ),
    '',
    'By default, Redis writes a snapshot after 60 s with 10,000 changes, or later, and no log. With `appendonly yes`, a SIGKILL loses nothing, a power failure up to a second.',
    '',
    '## Where a peer is better',
    '',
    'By the medians of the runs, if the difference is above 5 %.',
    '',
    ...(['middleware', 'inbox'] as const).flatMap((ours) => betterThan(ours, calm)),
    '',
    'Why:',
    '',
    '- A queue without a bound makes all senders wait equally long. Stripe and Svix have the longest timeouts, so their first attempt succeeds, and Shopify disables the endpoint: the figures of time are without what it has lost. The middleware saves Shopify, by refusing deliveries of senders that retry. Its p99 is the first retry of Stripe, after five minutes.',
    '- That costs deliveries of GitHub. In the middleware the four senders take turns, also Stripe and Svix, which would retry, and deliveries of GitHub are withdrawn from the queue after 9.5 s. With one key for all senders, it costs deliveries of Shopify instead.',
    '- The speed adds to that: the first retries of Svix and Shopify come after 0.5 and 6 s, in place of 5 and 60, while first attempts of GitHub are queued. At the speed of the senders, fewer are lost.',
    '- Handlers behind a queue by hand run even if the sender has hung up. For a delivery of GitHub this is useful, because there is no other attempt, although GitHub shows it as failed. The middleware never handles it.',
    '- BullMQ does not wait for a disk with the defaults of Redis, and loses acknowledged deliveries for that. The inbox waits for a commit.',
    '',
  ].join('\n');
}

function betterThan(ours: 'middleware' | 'inbox', rows: readonly Row[]): string[] {
  const peers = PEERS.filter((peer) => peer !== 'middleware' && peer !== 'inbox');
  const lines = FIGURES.flatMap(([title, figure, isTime]) => {
    const of = (peer: string): number => medianOf(rows, peer, figure);
    const better = peers.filter((peer) => of(peer) < of(ours) * (1 - SAME));
    const shown = (peer: string): string => (isTime ? time(of(peer)) : count(of(peer)));
    const named = better.map((peer) => `${peer} ${shown(peer)}`);
    return better.length === 0 ? [] : [`- ${title} than the ${ours} (${shown(ours)}): ${named.join(', ')}`];
  });
  return lines.length === 0 ? [`- than the ${ours}: none`] : lines;
}

export function medianOf(rows: readonly Row[], peer: string, figure: Figure): number {
  return median(rows.filter((row) => row.peer === peer).map(figure));
}

function nameOf({ peer, redis, isKilled }: Run): string {
  if (isKilled !== true || redis === undefined) return peer;
  return `${peer}, Redis with ${redis === 'defaults' ? 'its defaults' : '`appendonly yes`'}`;
}

function cells(values: readonly (string | number)[]): string {
  return `| ${values.map((value) => (typeof value === 'number' ? count(value) : value)).join(' | ')} |`;
}

function time(seconds: number): string {
  return seconds < 1 ? `${String(Math.round(1000 * seconds))} ms` : `${seconds.toFixed(1)} s`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

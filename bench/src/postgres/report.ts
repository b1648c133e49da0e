import { machineLines, type Machine } from '../machine.ts';
import type { Batching } from './batching.ts';
import type { Backlog, Growth } from './growth.ts';
import type { OpenTransaction } from './open-transaction.ts';

/** All figures of a run. */
export interface Figures {
  readonly batching: Batching;
  readonly heldSeconds: number;
  readonly openTransaction: OpenTransaction;
  readonly small: Backlog & Growth;
  readonly large: Backlog & Growth;
}

/** A figure as a ratio of two measurements of one run. */
export interface Ratio {
  readonly what: string;
  readonly measured: number;
  readonly target: string;
}

export function ratiosOf({
  batching,
  heldSeconds,
  openTransaction,
  small,
  large,
}: Figures): readonly Ratio[] {
  const { without, held } = openTransaction;
  const backlog = `${String(large.waiting)} waiting of ${String(large.keys)} keys ÷ ${String(small.waiting)} of ${String(small.keys)}`;
  const open = `with a transaction open for ${String(heldSeconds)} s ÷ without, at 1,000/s`;
  return [
    {
      what: 'deliveries per second of 64 senders, inbox ÷ one insert per commit (10 connections)',
      measured: batching.inbox / batching.inserts,
      target: '≥ 4',
    },
    {
      what: 'the same, with 64 connections for the inserts',
      measured: batching.inbox / batching.insertsOfMany,
      target: '',
    },
    { what: `p99 of a claim, ${open}`, measured: held.claimMs / without.claimMs, target: '≤ 3' },
    { what: `p99 of a put, ${open}`, measured: held.putMs / without.putMs, target: '' },
    { what: `p99 of a claim of 10, ${backlog}`, measured: large.claimMs / small.claimMs, target: '≤ 2' },
    { what: `p99 of a put of 10, ${backlog}`, measured: large.putMs / small.putMs, target: '≤ 2' },
  ];
}

export function postgresReport(machine: Machine, ratios: readonly Ratio[]): string {
  const rows = ratios.map(({ what, measured, target }) => `| ${what} | ${measured.toFixed(2)} | ${target} |`);
  return [
    '# The inbox on PostgreSQL',
    '',
    'Written by `npm run bench:postgres`. [How it is measured](../README.md).',
    '',
    ...machineLines(machine),
    '',
    'Commits wait for the disk, as PostgreSQL has it by default.',
    '',
    '| Ratio | Measured | Target |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

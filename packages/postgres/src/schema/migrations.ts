import { claim, counts, nextDue } from './claim.ts';
import { dropKept, forget, forgetId, purge, redrive, replay } from './finished.ts';
import { fleetBeat, fleetTables } from './fleet.ts';
import { claimKeys, dueKeys, keyIndexes, strandDead } from './key-claims.ts';
import { leave, setOrder } from './owners.ts';
import { put } from './put.ts';
import { endHeads, renew, settle } from './settle.ts';
import { tables } from './tables.ts';
import { addTotals, lockTotals, replaceTotals, slots } from './totals.ts';

/** The statements of a migration. */
export type Migration = (schema: string) => string;

const FIRST: readonly Migration[] = [
  ...[
    tables,
    addTotals,
    lockTotals,
    replaceTotals,
    slots,
    endHeads,
    put,
    claim,
    nextDue,
    counts,
    settle,
    renew,
  ],
  ...[redrive, purge, replay, dropKept, forget, forgetId, setOrder, leave],
  ...[fleetTables, fleetBeat],
];

/** For senders, which claim by key. */
const SECOND: readonly Migration[] = [keyIndexes, claimKeys, strandDead, dueKeys];

/**
 * Step n migrates version n to version n + 1. A published step never changes. It only adds, so that receivers of the
 * release before continue to work while it runs and afterwards, also those that start then. A step that takes something away sets
 * `meta.min_version`, at the earliest a release after the last one that used it.
 */
export const MIGRATIONS: readonly Migration[] = [FIRST, SECOND].map(
  (parts) => (s) => parts.map((part) => part(s)).join(''),
);

/** The newest version. */
export const VERSION: number = MIGRATIONS.length;

/** The statements that migrate a schema from a version to the newest one; from 0, the schema need not exist. */
export function migrationSql(
  schema: string,
  from: number,
  migrations: readonly Migration[] = MIGRATIONS,
): string {
  const steps = migrations.slice(from).map((step) => step(schema));
  const create = from === 0 ? [`CREATE SCHEMA IF NOT EXISTS ${schema};\n`] : [];
  const note = [`UPDATE ${schema}.meta SET version = ${String(migrations.length)};\n`];
  return [...create, ...steps, ...note].join('');
}

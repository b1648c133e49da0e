import { claim, nextDue } from './claim.ts';
import { dropKept, forget, forgetId, purge, redrive, replay } from './finished.ts';
import { fleetBeat, fleetTables } from './fleet.ts';
import { leave, setOrder } from './owners.ts';
import { put } from './put.ts';
import { endHeads, renew, settle } from './settle.ts';
import { tables } from './tables.ts';
import { addTotals } from './totals.ts';

type Part = (schema: string) => string;

const FIRST: readonly Part[] = [
  ...[tables, addTotals, endHeads, put, claim, nextDue, settle, renew],
  ...[redrive, purge, replay, dropKept, forget, forgetId, setOrder, leave],
  ...[fleetTables, fleetBeat],
];

/**
 * Step n migrates version n to version n + 1. A published step never changes. It only adds, so that receivers of the
 * release before work on while it runs and afterwards.
 */
const MIGRATIONS: readonly Part[] = [(s) => FIRST.map((part) => part(s)).join('')];

/** The newest version. */
export const VERSION: number = MIGRATIONS.length;

/** The statements that migrate a schema from a version to the newest one; from 0, the schema need not exist. */
export function migrationSql(schema: string, from: number): string {
  const steps = MIGRATIONS.slice(from).map((step) => step(schema));
  const create = from === 0 ? [`CREATE SCHEMA IF NOT EXISTS ${schema};\n`] : [];
  const note = from === 0 ? [] : [`UPDATE ${schema}.meta SET version = ${String(VERSION)};\n`];
  return [...create, ...steps, ...note].join('');
}

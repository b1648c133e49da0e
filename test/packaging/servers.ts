import { inject } from 'vitest';
import type { Found } from '../postgres/global-setup.ts';

const found = (await (await fetch(inject('postgresAt'))).json()) as Found;
if (found.connectionString === undefined)
  console.warn(`SKIPPED: the projects that use PostgreSQL, because no server starts here.\n${found.problem}`);
// For the programs of the projects, which inherit it.
else process.env['DATABASE_URL'] = found.connectionString;

/** Whether no PostgreSQL starts on this machine. */
export const isPostgresSkipped: boolean = found.connectionString === undefined;

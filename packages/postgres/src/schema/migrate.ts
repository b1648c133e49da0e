import { BackpressureError } from '@webhook-backpressure/base';
import { checkSchema } from '../options.ts';
import type { Run, Server } from '../server/server.ts';
import { claims } from './claim.ts';
import { finished } from './finished.ts';
import { fleet } from './fleet.ts';
import { keyClaims } from './key-claims.ts';
import { newestClaims } from './newest-claims.ts';
import { put } from './put.ts';
import { settlements } from './settlements.ts';
import { tables } from './tables.ts';

/** The statements of a migration. */
export type Migration = (schema: string) => string;

const PARTS: readonly Migration[] = [
  tables,
  put,
  claims,
  keyClaims,
  newestClaims,
  settlements,
  finished,
  fleet,
];

/**
 * Step n migrates version n to version n + 1. A published step never changes. It only adds, so that receivers of the release
 * before continue to work while it runs and afterwards, also those that start then. A step that takes something away sets
 * `meta.min_version`, at the earliest a release after the last one that used it.
 */
export const MIGRATIONS: readonly Migration[] = [(s) => PARTS.map((part) => part(s)).join('')];

/** The newest version. */
const VERSION = MIGRATIONS.length;

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

/**
 * The statements that create the tables of an inbox, for teams whose application may not create any. Run them in one
 * transaction, and grant the application `USAGE` on the schema, `SELECT`, `INSERT`, `UPDATE` and `DELETE` on its tables,
 * `USAGE` on its sequences and `EXECUTE` on its functions.
 *
 * @param schema - the option `schema` of the store. Default: `webhook_inbox`.
 * @param from - the version that exists, to migrate it. Default 0: none.
 * @throws BackpressureError `ERR_WBP_POSTGRES_SCHEMA` for an invalid name, `ERR_WBP_POSTGRES_VERSION` for a version that
 * this release does not know.
 */
export function postgresSchema(schema?: string, from = 0): string {
  const name = checkSchema(schema);
  if (!Number.isInteger(from) || from < 0 || from > VERSION)
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_VERSION',
      `from must be an integer from 0 to ${String(VERSION)}, but was ${String(from)}.`,
    );
  return migrationSql(name, from);
}

/** SQL_ASCII keeps bytes as they are. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

const APPLICATION = 'webhook-backpressure inbox';

/**
 * Creates or migrates the schema, once, whatever number of receivers starts at the same time. Receivers of other releases
 * may run meanwhile.
 */
export async function migrate(server: Server, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const { schema } = server;
  await server.withClient(async (run) => {
    // Needs no right to create anything when the schema is up to date.
    if ((await versionOf(run, schema, migrations)) >= migrations.length) return;
    // A database may have another default, by which the second of two receivers would not see what the first has created.
    await run('BEGIN ISOLATION LEVEL READ COMMITTED');
    try {
      await run("SELECT pg_advisory_xact_lock(hashtext('webhook-backpressure migration:' || $1))", [schema]);
      const version = await versionOf(run, schema, migrations);
      if (version < migrations.length) await run(migrationSql(schema, version, migrations));
      await run('COMMIT');
    } catch (error) {
      // The connection may have failed, which is why there is nothing more to report.
      await run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

/** @throws unless the schema has the newest version. Changes nothing: receivers of another release may be using it. */
export async function checkNewest(
  server: Server,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { schema } = server;
  const version = await server.withClient((run) => versionOf(run, schema, migrations));
  if (version === 0)
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_FOREIGN',
      `The schema ${schema} has no tables of an inbox.`,
    );
  if (version < migrations.length)
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_VERSION',
      `The schema ${schema} has version ${String(version)}. Start a receiver of this release on it, which migrates it, or use the tool of the release that it belongs to.`,
    );
}

/** @returns 0 if the schema is missing or empty. */
async function versionOf(run: Run, schema: string, migrations: readonly Migration[]): Promise<number> {
  const [found] = await run<{ has_meta: boolean; tables: number; encoding: string }>(
    `SELECT to_regclass($1 || '.meta') IS NOT NULL AS has_meta,
      (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)::integer AS tables,
      current_setting('server_encoding') AS encoding`,
    [schema],
  );
  if (found !== undefined && !ENCODINGS.includes(found.encoding))
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_SETUP',
      `The schema ${schema} cannot be used: its database has the encoding ${found.encoding}, which lacks characters of deliveries. Use a database with the encoding UTF8.`,
    );
  if (found?.tables === 0) return 0;
  const [meta] = found?.has_meta === true ? await readMeta(run, schema) : [];
  if (meta?.application !== APPLICATION || typeof meta.version !== 'number')
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_FOREIGN',
      `The schema ${schema} has tables of another application. Use a separate schema.`,
    );
  // A newer schema keeps what this release uses, or says that it does not.
  const needed = typeof meta.min_version === 'number' ? meta.min_version : meta.version;
  if (needed > migrations.length)
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_VERSION',
      `The schema ${schema} has version ${String(meta.version)}, and needs a release that knows version ${String(needed)}. This release knows ${String(migrations.length)}.`,
    );
  return meta.version;
}

/** A table of another application may hold anything. */
interface Meta {
  readonly application: unknown;
  readonly version: unknown;
  readonly min_version: unknown;
}

/** By a document, since a table of another application may have other columns. */
async function readMeta(run: Run, schema: string): Promise<readonly Meta[]> {
  return await run(
    `SELECT row->'application' AS application, row->'version' AS version, row->'min_version' AS min_version
    FROM (SELECT to_jsonb(m) AS row FROM ${schema}.meta m LIMIT 1) AS meta`,
  );
}

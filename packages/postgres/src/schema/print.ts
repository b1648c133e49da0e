import { BackpressureError } from '@webhook-backpressure/base';
import { checkSchema } from '../options.ts';
import { migrationSql, VERSION } from './migrations.ts';

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

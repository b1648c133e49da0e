/**
 * How every function in PL/pgSQL begins. Its name ends in its version: a migration adds functions, or replaces the body of
 * one by another that does the same, so that receivers of older releases continue to work.
 *
 * A plan that is made while a table is empty reads it completely, and is used until the next ANALYZE: the settings
 * choose an index from the start, and to look rows up one by one: a merge of a few rows with the whole queue passes the
 * entries of all deliveries that PostgreSQL could not remove yet. They also make costs so high that PostgreSQL would
 * compile the function to machine code, for 80 ms in each put.
 */
export const PLPGSQL: string = plpgsql('');

/**
 * For the functions that every delivery passes. Their plans are the same whatever the values: making them again takes as long
 * as claiming 50 deliveries.
 */
export const PLPGSQL_WITH_ONE_PLAN: string = plpgsql('SET plan_cache_mode = force_generic_plan ');

function plpgsql(setting: string): string {
  return `LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_mergejoin = off
  SET enable_hashjoin = off SET jit = off SET lock_timeout = '5s' ${setting}AS $$
#variable_conflict use_column`;
}

/**
 * A database or a role may be set to commit without waiting for the disk. What such a commit stores is lost when the
 * server crashes a moment later, although it was acknowledged.
 */
export const WAIT_FOR_DISK = `IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;`;

/** How many entries of indexes of the queue this transaction has visited, also those of rows that no longer exist. */
export function visits(s: string, ...indexes: readonly string[]): string {
  return indexes
    .map((name) => `pg_stat_get_xact_tuples_returned('${s}.queue_${name}'::regclass)`)
    .join(' + ');
}

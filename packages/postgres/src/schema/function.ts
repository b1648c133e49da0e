/**
 * A database or a role may be set to commit without waiting for the disk. What such a commit stores is lost when the
 * server crashes a moment later, although it was acknowledged.
 */
export const WAIT_FOR_DISK = `IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;`;

/** How long a call waits for a lock. */
const LOCK_TIMEOUT = '5s';

/**
 * The text of a function in PL/pgSQL. Its name ends in its version: a migration adds functions and never changes one,
 * so that receivers of older releases continue to work.
 *
 * A plan that is made while a table is empty reads it completely, and is used until the next ANALYZE: the settings
 * choose an index from the start, and to look rows up one by one: a merge of a few rows with the whole queue passes the
 * entries of all deliveries that PostgreSQL could not remove yet. They also make costs so high that PostgreSQL would
 * compile the function to machine code, for 80 ms in each put.
 */
export function plpgsql(
  name: string,
  parameters: string,
  {
    returns,
    declare = '',
    body,
  }: { readonly returns?: string; readonly declare?: string; readonly body: string },
): string {
  return `
CREATE FUNCTION ${name}(${parameters})${returns === undefined ? '' : ` RETURNS ${returns}`}
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_mergejoin = off SET enable_hashjoin = off
  SET jit = off AS $$
#variable_conflict use_column
DECLARE
  ${declare.trim()}
BEGIN
  PERFORM set_config('lock_timeout', '${LOCK_TIMEOUT}', true);
${body.trim()}
END $$;
`;
}

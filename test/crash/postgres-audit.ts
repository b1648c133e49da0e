import pg from 'pg';

/** The contents of the database, read without the store. */
export interface StoredOnServer {
  /** Completed ids, in the form of `idHash`; one that was completed twice is there twice. */
  readonly completed: readonly string[];
  /** Rows that a completed delivery leaves behind only by mistake. */
  readonly left: Readonly<Record<'queue' | 'contents' | 'dead_letters', number>>;
  /** What the store counts, beside what there is. */
  readonly counted: { readonly depth: number; readonly bytes: number; readonly remembered: number };
}

const SCHEMA = 'webhook_inbox';

/** Looks at the database of the store. */
export class PostgresAudit {
  readonly #pool: pg.Pool;

  constructor(connectionString: string) {
    this.#pool = new pg.Pool({ connectionString, max: 1 });
    // The server is stopped during the test.
    this.#pool.on('error', () => undefined);
  }

  /** Logs each completion in the transaction that commits it. Call it when the tables exist. */
  async begin(): Promise<void> {
    await this.#pool.query(`
      CREATE TABLE public.completions (hash uuid NOT NULL);
      CREATE FUNCTION public.note_completion() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.completions VALUES (NEW.hash);
          RETURN NULL;
        END $$;
      CREATE TRIGGER note_completion AFTER UPDATE OF completed_ms ON ${SCHEMA}.ids
        FOR EACH ROW WHEN (NEW.completed_ms IS NOT NULL) EXECUTE FUNCTION public.note_completion()`);
  }

  /** How many deliveries are not completed. */
  async unfinished(): Promise<number> {
    return await this.#count('queue');
  }

  async read(): Promise<StoredOnServer> {
    const { rows } = await this.#pool.query<{ hash: string }>(
      `SELECT replace(hash::text, '-', '') AS hash FROM public.completions`,
    );
    const { rows: totals } = await this.#pool.query<StoredOnServer['counted']>(
      `SELECT sum(depth)::integer AS depth, sum(bytes)::integer AS bytes, sum(remembered)::integer AS remembered
      FROM ${SCHEMA}.totals`,
    );
    return {
      completed: rows.map(({ hash }) => hash),
      left: {
        queue: await this.#count('queue'),
        contents: await this.#count('contents'),
        dead_letters: await this.#count('dead_letters'),
      },
      counted: totals[0] as StoredOnServer['counted'],
    };
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #count(table: string): Promise<number> {
    const { rows } = await this.#pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${SCHEMA}.${table}`,
    );
    return rows[0]?.count ?? 0;
  }
}

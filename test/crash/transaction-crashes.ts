import { readFileSync } from 'node:fs';
import Libsql from 'libsql';
import pg from 'pg';
import { chanceOf } from './chance.ts';
import { Life } from './life.ts';

/** The orders of a process whose transactions contain steps of an inbox or of a sender. */
export interface TransactionSettings {
  /** A file of SQLite, or a schema of PostgreSQL. */
  readonly store: { readonly path: string } | { readonly connectionString: string; readonly schema: string };
  /** `complete`: a handler completes its delivery and adds the next one. `send`: a program sends events. */
  readonly half: 'complete' | 'send';
  /** The file to which it appends the id of each event that arrives. */
  readonly log: string;
  readonly life: number;
  /** It kills itself at this step; 0: it makes nothing new, and ends everything. */
  readonly killAt: number;
}

class TransactionLife extends Life {
  constructor(settings: TransactionSettings) {
    super('transactions.js', settings);
  }

  /** Resolves when it is dead, or has ended everything. */
  async ended(): Promise<void> {
    let said: unknown;
    do said = await this.next();
    while (said !== undefined && !Object.hasOwn(said as object, 'drained'));
    if (!this.isAlive && !this.wasKilled) throw new Error(`Life ${String(this.life)} ended by itself.`);
  }
}

/** What one snapshot of the database holds. */
export interface TransactionCounts {
  /** Rows that the program wrote with a delivery or an event. */
  readonly made: number;
  /** Effects of deliveries that were received first, and of those that their handlers added. */
  readonly first: number;
  readonly next: number;
  /** Effects beyond the first of a delivery. */
  readonly twice: number;
  readonly unfinished: number;
  readonly completed: number;
  /** Effects of deliveries that are unfinished. */
  readonly early: number;
}

export interface TransactionOutcome {
  readonly kills: number;
  /** One for each snapshot that shows a part of a transaction. */
  readonly halves: readonly string[];
  readonly last: TransactionCounts;
  /** Events that arrived, without repetitions. */
  readonly arrived: ReadonlySet<string>;
  readonly made: ReadonlySet<string>;
}

/** The most steps of a life: about six transactions. */
const MAX_STEPS = 60;

/** Kills processes at steps of their transactions, looks at the database after each, and lets the last one end everything. */
export async function crashTransactions(
  settings: Omit<TransactionSettings, 'life' | 'killAt'>,
  kills: number,
  seed: number,
): Promise<TransactionOutcome> {
  const chance = chanceOf(seed);
  const database = 'path' in settings.store ? inFile(settings.store.path) : await inSchema(settings.store);
  const halves: string[] = [];
  let last: TransactionCounts | undefined;
  try {
    for (let life = 1; life <= kills + 1; life += 1) {
      const killAt = life > kills ? 0 : 1 + Math.floor(chance() * MAX_STEPS);
      const process = new TransactionLife({ ...settings, life, killAt });
      await process.ended();
      if (life > kills) await process.kill();
      last = await database.counts();
      const half = halfOf(last, settings.half);
      if (half !== undefined) halves.push(`after kill ${String(life)}: ${half} ${JSON.stringify(last)}`);
    }
    const lines =
      settings.half === 'send' ? readFileSync(settings.log, 'utf8').split('\n').filter(Boolean) : [];
    if (last === undefined) throw new Error('There was no life.');
    return { kills, halves, last, arrived: new Set(lines), made: await database.made() };
  } finally {
    await database.close();
  }
}

/** What of a transaction is missing, if something is. */
function halfOf(
  { made, first, next, unfinished, completed, early }: TransactionCounts,
  half: TransactionSettings['half'],
): string | undefined {
  if (unfinished + completed !== made + first) return 'a row without its delivery, or the reverse';
  if (half === 'send') return undefined;
  if (early > 0) return 'an effect without the completion';
  return completed === first + next ? undefined : 'a completion without the effect';
}

const COUNTS = (
  made: string,
  effects: string,
  unfinished: string,
  completed: string,
  contents: string,
): string => `
  SELECT (SELECT count(*) FROM ${made}) AS made,
    (SELECT count(*) FROM ${effects} WHERE id NOT LIKE '%+') AS first,
    (SELECT count(*) FROM ${effects} WHERE id LIKE '%+') AS next,
    (SELECT count(*) - count(DISTINCT id) FROM ${effects}) AS twice,
    (SELECT count(*) FROM ${unfinished}) AS unfinished,
    (SELECT count(*) FROM ${completed}) AS completed,
    (SELECT count(*) FROM ${effects} WHERE id IN (SELECT id FROM ${contents})) AS early`;

async function inSchema({
  connectionString,
  schema,
}: {
  readonly connectionString: string;
  readonly schema: string;
}) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`CREATE TABLE ${schema}_made (id text); CREATE TABLE ${schema}_effects (id text)`);
  const unfinished = `${schema}.queue`;
  const completed = `${schema}.ids WHERE completed_ms IS NOT NULL`;
  return {
    counts: async (): Promise<TransactionCounts> => {
      const found = await client.query(`SELECT to_regclass('${schema}.meta') IS NOT NULL AS is_there`);
      if (!(found.rows[0] as { is_there: boolean }).is_there) return NOTHING;
      const text = COUNTS(`${schema}_made`, `${schema}_effects`, unfinished, completed, `${schema}.contents`);
      const { rows } = await client.query<Record<keyof TransactionCounts, string>>(text);
      return Object.fromEntries(
        Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)]),
      ) as unknown as TransactionCounts;
    },
    made: async () => {
      const { rows } = await client.query<{ id: string }>(`SELECT id FROM ${schema}_made`);
      return new Set(rows.map(({ id }) => id));
    },
    close: () => client.end(),
  };
}

const NOTHING: TransactionCounts = {
  made: 0,
  first: 0,
  next: 0,
  twice: 0,
  unfinished: 0,
  completed: 0,
  early: 0,
};

function inFile(path: string) {
  const file = new Libsql(path);
  file.exec('CREATE TABLE made (id TEXT); CREATE TABLE effects (id TEXT)');
  // A connection that stays open would hold the -wal file.
  file.close();
  const read = <T>(sql: string): T[] => {
    const reading = new Libsql(path);
    try {
      return reading.prepare(sql).all() as T[];
    } finally {
      reading.close();
    }
  };
  return {
    counts: (): Promise<TransactionCounts> => {
      if (read("SELECT 1 FROM sqlite_schema WHERE name = 'webhook_inbox'").length === 0)
        return Promise.resolve(NOTHING);
      return Promise.resolve(
        read<TransactionCounts>(COUNTS('made', 'effects', 'queue', 'remembered', 'contents'))[0] ?? NOTHING,
      );
    },
    made: () => Promise.resolve(new Set(read<{ id: string }>('SELECT id FROM made').map(({ id }) => id))),
    close: () => Promise.resolve(),
  };
}

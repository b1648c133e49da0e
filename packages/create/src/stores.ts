import type { Variable } from './senders.ts';

/** Where the server keeps deliveries. */
export interface Store {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  /** The folder in `packages`; undefined for the memory. */
  readonly package: string | undefined;
  /** The function that makes it. */
  readonly make: string;
  /** Its options, as an expression. */
  readonly options: string;
  readonly variables: readonly Variable[];
  /** In the test: the values of the variables, as members of an object. */
  readonly test: string;
  /** For the README. */
  readonly keeps: string;
}

const ROWS: Readonly<Record<string, Store>> = {
  sqlite: {
    dependencies: {},
    // Only where the SQLite of Node.js is older than 3.51.3.
    optionalDependencies: { libsql: '^0.5.29' },
    package: 'sqlite',
    make: 'sqliteStore',
    options: '{ path: DATABASE }',
    variables: [{ name: 'DATABASE', meaning: 'The file with the deliveries.', local: './webhooks.db' }],
    test: `DATABASE: join(mkdtempSync(join(tmpdir(), 'webhooks-')), 'webhooks.db'),`,
    keeps: 'in the file `DATABASE`, and survive a crash of the process and of the machine',
  },
  postgres: {
    dependencies: { pg: '^8.23.1' },
    package: 'postgres',
    make: 'postgresStore',
    options: '{ connectionString: DATABASE_URL }',
    variables: [{ name: 'DATABASE_URL', meaning: 'The database.', local: 'postgres://localhost/webhooks' }],
    test: `DATABASE_URL: process.env.TEST_DATABASE_URL ?? 'postgres://localhost/webhooks_test',`,
    keeps:
      'in the database `DATABASE_URL`. `npm test` uses `TEST_DATABASE_URL`, by default postgres://localhost/webhooks_test, which must exist',
  },
  memory: {
    dependencies: {},
    package: undefined,
    make: 'memoryStore',
    options: '',
    variables: [],
    test: '',
    keeps: 'in memory: a restart loses them. Use another store in production',
  },
};

export const STORES: ReadonlyMap<string, Store> = new Map(Object.entries(ROWS));

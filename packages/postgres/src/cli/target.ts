import { type ToolTarget, UsageError } from '@webhook-backpressure/inbox/tool';
import { settle } from '../options.ts';
import { checkNewest } from '../schema/migrate.ts';
import { loadPg } from '../server/load-pg.ts';
import { Server } from '../server/server.ts';
import { printedSchema } from './print-schema.ts';
import { toolStore } from './tool-store.ts';

/** One for each statement; a command runs them one after the other. */
const CONNECTIONS = 1;
const CONNECT_TIMEOUT_MS = 10_000;
/** Variables that libpq and `pg` read. One of them says that a server is meant. */
const VARIABLES = ['PGHOST', 'PGHOSTADDR', 'PGSERVICE', 'PGDATABASE', 'PGUSER', 'PGPORT'];

/** The schemas that the tool works on. */
export const target: ToolTarget = {
  program: 'webhook-backpressure-postgres',
  noun: 'the schema',
  argument: '[CONNECTION]',
  help: [
    [
      'CONNECTION',
      'postgres://user@host/database. Absent: DATABASE_URL, or else PGHOST, PGDATABASE, PGUSER,\nPGPASSWORD …. Other users of the machine can read arguments: keep passwords in variables',
    ],
    ['--schema NAME', 'the option schema of the store, default webhook_inbox'],
  ],
  commands: {
    schema: {
      does: 'prints the statements that create the tables, or that migrate them with --from VERSION.\nNeeds no connection',
      run: printedSchema,
    },
  },
  options: ['schema'],
  open: async (argument, { schema }) => {
    const address = addressOf(argument);
    const pg = await loadPg();
    const pool = new pg.Pool({
      ...address,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'webhook-backpressure tool',
    });
    pool.on('error', () => undefined);
    try {
      // Nothing that the tool does belongs to a connection, so it works behind PgBouncer too.
      const server = new Server(settle({ pool }, { schema, pooled: true }));
      await checkNewest(server);
      await learnTime(server);
      return { ...toolStore(server), close: () => pool.end() };
    } catch (error) {
      await pool.end();
      throw error;
    }
  },
};

/** Times are stored by the server's clock, from which that of this machine may differ. */
async function learnTime(server: Server): Promise<void> {
  const { skew } = server;
  const sentAtMs = skew.now();
  const [row] = await server.query<{ server_ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS server_ms',
  );
  if (row !== undefined) skew.note(row.server_ms, sentAtMs);
}

function addressOf(argument: string | undefined): { readonly connectionString?: string } {
  const { DATABASE_URL: url } = process.env;
  if (argument !== undefined && argument !== '') return { connectionString: argument };
  if (url !== undefined && url !== '') return { connectionString: url };
  if (VARIABLES.some((name) => (process.env[name] ?? '') !== '')) return {};
  throw new UsageError('The connection is missing: add postgres://…, or set DATABASE_URL or PGHOST.');
}

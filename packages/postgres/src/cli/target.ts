import { parseArgs } from 'node:util';
import { BackpressureError, unknownOption } from '@webhook-backpressure/base';
import { type ToolTarget, UsageError } from '@webhook-backpressure/inbox/tool';
import { settle } from '../options.ts';
import { checkNewest, postgresSchema } from '../schema/migrate.ts';
import { loadPg, Server, SERVER_MS } from '../server/server.ts';
import { ToolSchema } from './tool-store.ts';

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
  isStore: isAddress,
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
      // Times are stored by the server's clock, from which that of this machine may differ.
      await server.timed(`SELECT ${SERVER_MS}`);
      return new ToolSchema(server, () => pool.end());
    } catch (error) {
      await pool.end();
      throw error;
    }
  },
};

function printedSchema(args: readonly string[]): string {
  try {
    const options = { schema: { type: 'string' }, from: { type: 'string' } } as const;
    const unknown = unknownOption(args, ['--schema', '--from']);
    if (unknown !== undefined) throw new UsageError(unknown);
    const { schema, from = 0 } = parseArgs({ args: [...args], options }).values;
    return `BEGIN;\n${postgresSchema(schema, Number(from))}COMMIT;`;
  } catch (error) {
    if (error instanceof BackpressureError || error instanceof UsageError) throw error;
    throw new UsageError(`${(error as Error).message.replace(/(?:\. |\n).*$/s, '')}.`);
  }
}

function addressOf(argument: string | undefined): { readonly connectionString?: string } {
  const { DATABASE_URL: url } = process.env;
  if (argument !== undefined && argument !== '') {
    if (isAddress(argument)) return { connectionString: argument };
    throw new UsageError(`CONNECTION must begin with postgres://, but was ${JSON.stringify(argument)}.`);
  }
  if (url !== undefined && url !== '') return { connectionString: url };
  if (VARIABLES.some((name) => (process.env[name] ?? '') !== '')) return {};
  throw new UsageError('The connection is missing: add postgres://…, or set DATABASE_URL or PGHOST.');
}

/** An address that `pg` takes: of a host, or of a socket. */
function isAddress(argument: string): boolean {
  return /^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(argument);
}

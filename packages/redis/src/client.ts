/** A client of `ioredis`: `Redis` or `Cluster`. */
export interface IoRedisClient {
  /** Runs a script. */
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script that the server has. Without this method, `eval` sends it each time. */
  evalsha?(digest: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Node-redis has no such method. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number; readOnly?: boolean }): void;
}

/** A client, cluster or pool of `redis`, version 4 or newer. */
export interface NodeRedisClient {
  /** Runs a script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script that the server has. Without this method, `eval` sends it each time. */
  evalSha?(digest: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Ioredis calls it `status`. */
  readonly isOpen?: boolean;
}

/** A client of Redis or Valkey, of `ioredis` or of `redis`. */
export type RedisClient = IoRedisClient | NodeRedisClient;

/** Whether it looks like a client of either library. */
export function isClient(value: unknown): value is RedisClient {
  return typeof (value as Partial<RedisClient> | null | undefined)?.eval === 'function';
}

/** Runs a script with one key, whichever library the client is of. */
export async function evaluate(
  client: RedisClient,
  script: string,
  key: string,
  values: readonly string[],
): Promise<unknown> {
  return 'defineCommand' in client
    ? await client.eval(script, 1, key, ...values)
    : await client.eval(script, { keys: [key], arguments: [...values] });
}

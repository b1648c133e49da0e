import { createHash } from 'node:crypto';
import { invalid } from '@webhook-backpressure/base';

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

const MAX_PREFIX = 200;

/** @throws BackpressureError `ERR_WBP_REDIS` unless it looks like a client of either library. */
export function checkClient(client: unknown): void {
  if (typeof (client as Partial<RedisClient> | null | undefined)?.eval === 'function') return;
  throw invalid('ERR_WBP_REDIS', 'The first argument', 'a connected client of ioredis or redis', client);
}

/** @throws BackpressureError `ERR_WBP_REDIS` */
export function checkPrefix(prefix: unknown): void {
  if (typeof prefix === 'string' && prefix !== '' && prefix.length <= MAX_PREFIX) return;
  throw invalid('ERR_WBP_REDIS', 'prefix', 'a string of 1 to 200 characters', prefix);
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

/** A script that is sent once, and then named by its digest: three kilobytes less for each call. */
export class Script {
  readonly #text: string;
  readonly #digest: string;

  constructor(text: string) {
    this.#text = text;
    this.#digest = createHash('sha1').update(text).digest('hex');
  }

  /** Runs it with one key. Rejects with the errors of the client. */
  async run(client: RedisClient, key: string, values: readonly string[]): Promise<unknown> {
    try {
      if ('defineCommand' in client) {
        if (client.evalsha !== undefined) return await client.evalsha(this.#digest, 1, key, ...values);
      } else if (client.evalSha !== undefined) {
        return await client.evalSha(this.#digest, { keys: [key], arguments: [...values] });
      }
    } catch (error) {
      // A server that was restarted or flushed does not know it any more. `EVAL` stores it again.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    return await evaluate(client, this.#text, key, values);
  }
}

import { createHash } from 'node:crypto';
import { evaluate, type RedisClient } from './client.ts';

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

import { inBackground } from '@webhook-backpressure/base';
import { createHash } from 'node:crypto';
import type { PostgresClient } from '../options.ts';
import type { Server } from './server.ts';

/** A commit with a NOTIFY waits for every other one of the database, so they are rare, and not in the put itself. */
const INTERVAL_MS = 50;
/** All workers hear it at the same moment. */
const MAX_DELAY_MS = 20;
/** Where no session can listen. */
const POLL_MS = 1000;

/** A number that no owner has. */
const NO_OWNER = '0';

/** Tells all workers but the owner that deliveries are due. Never rejects. */
export async function announce(server: Server, owner: string = NO_OWNER): Promise<void> {
  // Nothing to wait for on the disk.
  const text = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
  await server.query(text, [channelOf(server), owner]).catch(() => undefined);
}

/** A channel has a shorter name than a schema may have. */
function channelOf({ schema }: Server): string {
  return `wbp_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
}

/** Tells the workers of other processes that deliveries are due. They find them without it, only later. */
export class Announcements {
  readonly #server: Server;
  readonly #owner: string;
  readonly #random: () => number;
  readonly #channel: string;
  #sentMs = -Infinity;
  #sending: ReturnType<typeof setTimeout> | undefined;
  #waking: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(server: Server, owner: string, random: () => number = Math.random) {
    this.#server = server;
    this.#owner = owner;
    this.#random = random;
    this.#channel = channelOf(server);
    if (!server.isPooled) return;
    this.#polling = setInterval(
      () => {
        server.report({ type: 'due' });
      },
      POLL_MS * (0.8 + 0.4 * random()),
    );
    this.#polling.unref();
  }

  /**
   * Call it after the commit that made deliveries due. Also on a store without a session: workers with a direct connection
   * listen.
   */
  due(): void {
    if (this.#sending !== undefined || this.#isClosed) return;
    const inMs = this.#sentMs + INTERVAL_MS - performance.now();
    if (inMs <= 0) {
      inBackground(this.send());
      return;
    }
    this.#sending = setTimeout(() => {
      this.#sending = undefined;
      inBackground(this.send());
    }, inMs);
    this.#sending.unref();
  }

  async send(): Promise<void> {
    this.#sentMs = performance.now();
    await announce(this.#server, this.#owner);
  }

  /** Listens on a session. */
  async listen(client: PostgresClient): Promise<void> {
    client.on('notification', ({ channel, payload }) => {
      if (channel === this.#channel && payload !== this.#owner) this.#wake();
    });
    await client.query({ text: `LISTEN ${this.#channel}`, values: [], query_timeout: 5000 });
    // Others may have announced something since the last session ended.
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#sending);
    clearTimeout(this.#waking);
    clearInterval(this.#polling);
  }

  #wake(): void {
    if (this.#isClosed) return;
    this.#waking ??= setTimeout(() => {
      this.#waking = undefined;
      this.#server.report({ type: 'due' });
    }, this.#random() * MAX_DELAY_MS);
    this.#waking.unref();
  }
}

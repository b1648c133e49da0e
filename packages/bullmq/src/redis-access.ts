import { BackpressureError, thrownText } from '@webhook-backpressure/base';
import type { BullmqQueue } from './options.ts';

/** The part of the queue's Redis client that is used: of ioredis in BullMQ 5, of any client in BullMQ 6. */
interface RedisClient {
  readonly status: string;
  readonly isCluster?: boolean;
  info(): Promise<string>;
  defineCommand(name: string, definition: { readonly numberOfKeys: number; readonly lua: string }): void;
  /** Absent in BullMQ 5. */
  runCommand?(name: string, args: readonly (string | number)[]): Promise<unknown>;
}

/** What `INFO` says about the server. */
export interface ServerInfo {
  /** The part of `maxmemory` that is used; 0 without a limit. */
  readonly memory: number;
  /** Why acknowledged deliveries could be lost, in sentences; empty if Redis keeps them. */
  readonly dangers: readonly string[];
}

/** A script of Redis. */
export interface Script {
  readonly name: string;
  readonly numberOfKeys: number;
  readonly lua: string;
}

/**
 * Calls the Redis of a queue. Every call ends within the deadline, whatever the queue's connection does with commands
 * that it cannot send: by default it keeps them until it is connected again.
 */
export class RedisAccess {
  readonly #queue: BullmqQueue;
  readonly #deadlineMs: number;
  readonly #defined = new Set<Script>();
  #client: RedisClient | undefined;
  /** The calls whose deadline has passed, and that may still have an effect. */
  #overdue = 0;

  constructor(queue: BullmqQueue, deadlineMs: number) {
    this.#queue = queue;
    this.#deadlineMs = deadlineMs;
  }

  /** Waits for the connection. */
  async connect(): Promise<RedisClient> {
    this.#client ??= await this.#inTime(clientOf(this.#queue), 'connect');
    return this.#client;
  }

  /**
   * Makes a call.
   *
   * @throws BackpressureError `ERR_WBP_BULLMQ_UNAVAILABLE` immediately if Redis is not connected, or an earlier call has
   * not been answered in time and may still be: a further one would only use more memory. Else when the deadline passes.
   */
  async call<T>(name: string, make: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    if (!isReady(client)) throw unavailable(`the connection is not ready (its status is ${client.status})`);
    if (this.#overdue > 0) throw unavailable('it has not answered an earlier call yet');
    return await this.#inTime(make(client), name);
  }

  /** What `INFO` returns, if the user of the connection may call it. */
  async info(): Promise<ServerInfo> {
    return await this.call('INFO', async (client) => {
      try {
        return serverInfoOf(await client.info());
      } catch (error) {
        if (!/^(NOPERM|ERR unknown command)/.test((error as Error).message)) throw error;
        const danger = 'it is unknown whether it keeps its data, because the user may not call INFO.';
        return { memory: 0, dangers: [danger] };
      }
    });
  }

  /** Runs a script. The keys come first in `args`. */
  async run(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    return await this.call('a script', (client) => {
      if (!this.#defined.has(script)) {
        client.defineCommand(script.name, script);
        this.#defined.add(script);
      }
      if (client.runCommand !== undefined) return client.runCommand(script.name, args);
      const commands = client as unknown as Record<string, (args: readonly unknown[]) => Promise<unknown>>;
      return commands[script.name]?.(args) ?? Promise.reject(new Error('The client defines no commands.'));
    });
  }

  async #inTime<T>(call: Promise<T>, name: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOverdue = false;
    const settled = (): void => {
      clearTimeout(timer);
      if (isOverdue) this.#overdue -= 1;
    };
    call.then(settled, settled);
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isOverdue = true;
        this.#overdue += 1;
        reject(unavailable(`it has not answered ${name} within ${String(this.#deadlineMs)} ms`));
      }, this.#deadlineMs);
    });
    try {
      return await Promise.race([call, late]);
    } catch (error) {
      throw coded(error);
    }
  }
}

function clientOf(queue: BullmqQueue): Promise<RedisClient> {
  const { getBackend } = queue as { getBackend?: () => object };
  const owner = getBackend === undefined ? queue : getBackend.call(queue);
  return (owner as { readonly client: Promise<RedisClient> }).client;
}

/** A cluster is ready in the state `connect`. */
function isReady({ status, isCluster }: RedisClient): boolean {
  return status === 'ready' || (status === 'connect' && isCluster === true);
}

/** An error with a code for any that BullMQ, the client or Redis has reported. */
function coded(error: unknown): BackpressureError {
  if (error instanceof BackpressureError) return error;
  const reason = thrownText(error);
  // BullMQ enforces its option sizeLimit before it sends anything.
  return / exceeds the limit \d+ bytes$/.test(reason)
    ? new BackpressureError('ERR_WBP_STORE_VALUE', `BullMQ cannot store a delivery: ${reason}.`, {
        cause: error,
      })
    : unavailable(reason, error);
}

function unavailable(reason: string, cause?: unknown): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_BULLMQ_UNAVAILABLE',
    `BullMQ cannot use Redis: ${reason}.`,
    cause === undefined ? undefined : { cause },
  );
}

function serverInfoOf(text: string): ServerInfo {
  const fields = new Map(
    text.split(/\r?\n/).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
  const maximum = Number(fields.get('maxmemory') ?? 0);
  const memory = maximum > 0 ? Number(fields.get('used_memory') ?? 0) / maximum : 0;
  const dangers: string[] = [];
  if (fields.get('aof_enabled') === '0')
    dangers.push('appendonly is off, so a crash loses what Redis has acknowledged since its last snapshot.');
  const policy = fields.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    dangers.push(`maxmemory-policy is ${policy}, so Redis may delete jobs when its memory is full.`);
  return { memory, dangers };
}

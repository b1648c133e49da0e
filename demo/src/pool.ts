import { setTimeout as sleep } from 'node:timers/promises';

/** A connection that its holder has to give back. */
export interface Connection {
  /** Takes as long as a small transaction. */
  query(): Promise<void>;
  release(): void;
}

interface PoolOptions {
  max: number;
  connectionTimeoutMs: number;
  queryFromMs: number;
  queryToMs: number;
}

interface Waiter {
  resolve(connection: Connection): void;
  timer: NodeJS.Timeout;
}

/** Stands in for a database pool: so many connections, first come first served, and a limit on waiting for one. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  // A Set keeps the order of arrival and lets one in the middle give up in O(1).
  readonly #waiting = new Set<Waiter>();
  #free: number;
  #deepest = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#free = options.max;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** The most callers that have waited concurrently. */
  get deepest(): number {
    return this.#deepest;
  }

  /** Rejects when no connection was free in time. */
  connect(): Promise<Connection> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#connection());
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#options.connectionTimeoutMs);
      const waiter: Waiter = { resolve, timer };
      this.#waiting.add(waiter);
      this.#deepest = Math.max(this.#deepest, this.#waiting.size);
    });
  }

  #connection(): Connection {
    const { queryFromMs, queryToMs } = this.#options;
    return {
      query: () => sleep(queryFromMs + (queryToMs - queryFromMs) * Math.random()),
      release: () => {
        this.#handOn();
      },
    };
  }

  #handOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    clearTimeout(next.timer);
    next.resolve(this.#connection());
  }
}

import type { Redis } from 'ioredis';
import type { ManualClock } from '@webhook-backpressure/core/testing';
import type { IoRedisClient } from '@webhook-backpressure/redis';

/** What becomes of a call. */
export interface CallFate {
  /** Until the server runs it, in milliseconds; undefined if it never arrives. */
  readonly thereMs: number | undefined;
  /** Until the reply has arrived, from then on. */
  readonly backMs: number;
  /** Whether the client reports an error, at the time of the reply. */
  readonly isFailed: boolean;
}

interface Run {
  readonly atMs: number;
  readonly script: string;
  readonly values: string[];
  readonly answer: (value: unknown) => void;
}

/** When the server runs a script is decided by the clock of the test, which is also what `TIME` returns there. */
export class DrivenServer {
  /** The clock of the server when that of the test is at 0. */
  static readonly epochMs = 1_700_000_000_000;
  calls = 0;
  readonly #redis: Redis;
  readonly #clock: ManualClock;
  #runs: Run[] = [];

  constructor(redis: Redis, clock: ManualClock) {
    this.#redis = redis;
    this.#clock = clock;
  }

  /** A client of one process. Nothing is answered any more when `isAlive` returns false. */
  client(fateOf: () => CallFate, isAlive: () => boolean): IoRedisClient {
    return {
      defineCommand: () => undefined,
      eval: (script, _, ...values) =>
        new Promise((resolve, reject) => {
          const { thereMs, backMs, isFailed } = fateOf();
          const end = (value: unknown): void => {
            this.#clock.setTimeout(() => {
              if (!isAlive()) return;
              if (isFailed) reject(new Error('The connection is closed.'));
              else resolve(value);
            }, backMs);
          };
          if (thereMs === undefined) end(undefined);
          else this.#runs.push({ atMs: this.#clock.now() + thereMs, script, values, answer: end });
        }),
    };
  }

  /** Runs the scripts that have arrived, in order. */
  async run(): Promise<void> {
    const nowMs = this.#clock.now();
    const due = this.#runs.filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
    if (due.length === 0) return;
    this.#runs = this.#runs.filter(({ atMs }) => atMs > nowMs);
    this.calls += due.length;
    const replies = await Promise.all(
      due.map(({ script, values: [key = '', ...values] }) =>
        this.#redis.eval(driven(script), 1, key, ...values, nowMs),
      ),
    );
    for (const [at, { answer }] of due.entries()) answer(replies[at]);
  }
}

/** The script with the time of the test, in the last argument. Keys expire by the clock of the server, so they stay. */
function driven(script: string): string {
  const time = `(function ()
    local ms = tonumber(ARGV[#ARGV]) + ${String(DrivenServer.epochMs)}
    return { math.floor(ms / 1000), math.floor(ms % 1000 * 1000) }
  end)()`;
  return script.replaceAll(`redis.call('TIME')`, time).replaceAll(/'PX', [^\n]*\)\n/g, `'PX', '3600000')\n`);
}

import { type Clock, inBackground, thrownText } from '@webhook-backpressure/base';
import type { BucketsEvent } from '@webhook-backpressure/fleet';
import { Script, type RedisClient } from './client.ts';
import type { Sharing } from './share.ts';
import type { TimedCalls } from './timed-calls.ts';

const BEAT_MS = 2000;
/** Each process that works is noted within so long. */
const NOTED_MS = 6000;
/** While the server is away. */
const PROBE_MS = 500;
/** A client that was created just now is still connecting: failures of so long say nothing about the server … */
const STARTING_MS = 2000;
/** … and calls are repeated after so long. */
export const STARTING_PROBE_MS = 50;
/** Without any reply for so long, the server is away. */
const SILENT_MS = 5000;
/**
 * With late replies only for so long, the server is of no use. Before, other processes may well use the whole rate: a late
 * reply says that the server works, and that a machine or a process is overloaded.
 */
const SLOW_MS = 30_000;
/** Without a failure for so long, it is back. In a cluster only some endpoints may fail. */
const CALM_MS = 3000;
/** A process that has never reached the server takes so small a part of the rates. */
const ASSUMED_PROCESSES = 4;

/**
 * Notes that a process uses the buckets, and returns how many did in the last six seconds, how many of them have a lower id,
 * the time in milliseconds, and whether it had noted this process. A time that is ahead was written before the clock of the server was set back.
 */
const PRESENT = new Script(`
local key, process, is_leaving = KEYS[1], ARGV[1], ARGV[2] == '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', key).ok ~= 'zset' then redis.call('DEL', key) end
if is_leaving then
  redis.call('ZREM', key, process)
  return { 0, 0, now, 0 }
end
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - 6000)
redis.call('ZREMRANGEBYSCORE', key, now + 6000, '+inf')
local was_noted = redis.call('ZSCORE', key, process) and 1 or 0
redis.call('ZADD', key, string.format('%d', now), process)
redis.call('PEXPIRE', key, 60000)
local rank = 0
local processes = redis.call('ZRANGE', key, 0, -1)
for _, other in ipairs(processes) do
  if other < process then rank = rank + 1 end
end
return { #processes, rank, now, was_noted }
`);

interface PresenceOptions {
  readonly id: string;
  readonly key: string;
  readonly client: RedisClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly listener: (event: BucketsEvent) => void;
}

/** Counts the processes that use the same buckets, and notices that the server does not answer. */
export class Presence {
  /** Processes of the last seconds, this one included. */
  processes = 1;
  /** Whether calls are useless now. */
  isAway = false;
  /** How often the server was lost. */
  losses = 0;
  #wasReached = false;
  /** Among the processes, from 0. */
  #rank: number;
  /** The clock of the server, less that of this process. */
  #aheadMs = 0;
  readonly #options: PresenceOptions;
  readonly #startedAtMs: number;
  readonly #now: () => number;
  readonly #calls: TimedCalls;
  #timer: unknown;
  #isBeating = false;
  #isClosed = false;
  #lateSinceMs: number | undefined;
  #lostSinceMs: number | undefined;
  #failedAtMs = 0;
  #heardAtMs = -Infinity;
  #failedBeats = 0;
  #incompleteUntilMs = 0;

  constructor(options: PresenceOptions, now: () => number, calls: TimedCalls) {
    this.#options = options;
    this.#rank = Math.floor(options.random() * ASSUMED_PROCESSES);
    this.#now = now;
    this.#startedAtMs = now();
    this.#calls = calls;
    this.#timer = options.clock.setTimeout(this.#beat, 0);
  }

  /** Whether the client may still be connecting. */
  get isStarting(): boolean {
    return !this.#wasReached && this.#now() - this.#startedAtMs < STARTING_MS;
  }

  /** Among how many the rates are divided while the server is away. */
  get sharers(): number {
    return this.#wasReached ? this.processes : ASSUMED_PROCESSES;
  }

  /**
   * Whether the server is away, or has been back for so short a time that other processes may not have noticed. Until then
   * each uses no more than its part: those that are back would otherwise use the whole rate beside the parts of the others.
   */
  get isUnsettled(): boolean {
    return this.#lostSinceMs !== undefined;
  }

  /** How the rates are divided while the server is away. */
  get sharing(): Sharing {
    const { sharers } = this;
    return { sharers, rank: Math.min(this.#rank, sharers - 1), aheadMs: this.#aheadMs };
  }

  /** A reply has come too late. */
  heard(): void {
    this.#heardAtMs = this.#now();
  }

  /** A call was answered in time. */
  answered(): void {
    this.#lateSinceMs = undefined;
  }

  /** A call failed. The next beat says whether all do. */
  failed(error: string): void {
    this.#lost(error);
    this.#beatIn(0);
  }

  /** A call was not answered in time. */
  late(): void {
    const nowMs = this.#now();
    this.#lateSinceMs ??= nowMs;
    const lateMs = nowMs - this.#lateSinceMs;
    const silentMs = Math.min(lateMs, nowMs - this.#heardAtMs);
    if (silentMs < SILENT_MS && lateMs < SLOW_MS) return;
    this.isAway = true;
    this.#lost('Redis does not answer within 100 ms.');
  }

  close(): void {
    this.#isClosed = true;
    const { clock, client, key, id } = this.#options;
    clock.clearTimeout(this.#timer);
    if (this.#wasReached) PRESENT.run(client, key, [id, '1']).catch(() => undefined);
  }

  #lost(error: string): void {
    const nowMs = this.#now();
    this.#failedAtMs = nowMs;
    if (this.#lostSinceMs !== undefined || this.#isClosed) return;
    this.#lostSinceMs = nowMs;
    this.losses += 1;
    this.#options.listener({ type: 'lost', error, processes: this.sharers });
  }

  #beatIn(ms: number): void {
    if (this.#isBeating || this.#isClosed) return;
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(this.#beat, ms);
  }

  readonly #beat = (): void => {
    if (this.#isBeating || this.#isClosed) return;
    this.#isBeating = true;
    const { client, key, id } = this.#options;
    inBackground(
      this.#calls
        .run(
          async () => ((await PRESENT.run(client, key, [id, '0'])) as unknown[]).map(Number),
          () => {
            this.heard();
          },
        )
        .then((reply) => {
          this.#isBeating = false;
          if (this.#isClosed) return;
          if (reply.kind === 'answered') this.#present(reply.value, reply.tookMs);
          else if (reply.kind === 'late') this.late();
          else if (this.isStarting) {
            this.#beatIn(STARTING_PROBE_MS);
            return;
          } else {
            // One failure may be a connection that broke.
            this.#failedBeats += 1;
            if (this.#failedBeats > 1) this.isAway = true;
            this.#lost(thrownText(reply.error));
          }
          this.#beatIn(
            this.#lostSinceMs === undefined && this.#lateSinceMs === undefined ? BEAT_MS : PROBE_MS,
          );
        }),
    );
  };

  #present([processes = 1, rank = 0, serverMs = 0, wasNoted = 1]: readonly number[], tookMs: number): void {
    const nowMs = this.#now();
    // The server has lost its data, or this process was silent: the others are noted again within seconds.
    if (this.#wasReached && wasNoted === 0) this.#incompleteUntilMs = nowMs + NOTED_MS;
    if (nowMs >= this.#incompleteUntilMs || processes >= this.processes) {
      this.processes = Math.max(1, processes);
      this.#rank = rank;
    }
    this.#wasReached = true;
    this.isAway = false;
    this.#failedBeats = 0;
    this.#lateSinceMs = undefined;
    this.#aheadMs = serverMs - (nowMs - tookMs / 2);
    if (this.#lostSinceMs === undefined || nowMs - this.#failedAtMs < CALM_MS) return;
    const lostMs = nowMs - this.#lostSinceMs;
    this.#lostSinceMs = undefined;
    this.#options.listener({ type: 'restored', lostMs });
  }
}

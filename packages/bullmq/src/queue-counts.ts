import type { BullmqQueue } from './options.ts';
import type { RedisAccess, Script } from './redis-access.ts';

/** The states of unfinished jobs. */
const UNFINISHED = ['wait', 'paused', 'active', 'delayed', 'prioritized', 'waiting-children'];

/**
 * Adds the duplicates of this process to those of all, and returns them, how many jobs the queue was ever asked to add,
 * and when the job was added that waits first. Writes rarely, and not if Redis is full, because the counts are needed then.
 * More duplicates than jobs: the queue was obliterated, which deletes only what BullMQ knows.
 */
const READ: Script = {
  name: 'webhookBackpressureRead',
  numberOfKeys: 3,
  lua: `
if ARGV[1] ~= '0' then redis.pcall('INCRBY', KEYS[1], ARGV[1]) end
local duplicates = redis.call('GET', KEYS[1]) or '0'
local added = redis.call('GET', KEYS[2]) or '0'
if tonumber(duplicates) > tonumber(added) then
  redis.pcall('DEL', KEYS[1])
  duplicates = '0'
end
local first = redis.call('LINDEX', KEYS[3], -1)
local timestamp = first and redis.call('HGET', ARGV[2] .. first, 'timestamp')
return {duplicates, added, timestamp or ''}`,
};

/** What the queue holds at one moment. */
export interface Counts {
  /** Unfinished jobs of all programs. */
  readonly depth: number;
  /** Jobs that were completed, have failed or were removed since the queue exists. Never falls. */
  readonly drained: number;
  /** When the job was added that waits first; undefined when none waits. */
  readonly oldestAddedAtMs: number | undefined;
}

/** Counts the jobs of a queue. */
export class QueueCounts {
  readonly #queue: BullmqQueue;
  readonly #redis: RedisAccess;
  /** Duplicates of this process that Redis does not know about. */
  #duplicates = 0;
  #drained = 0;
  /** The difference between `drained` and what Redis has counted. */
  #offset = 0;
  #added = 0;

  constructor(queue: BullmqQueue, redis: RedisAccess) {
    this.#queue = queue;
    this.#redis = redis;
  }

  /**
   * Reports duplicates to the other receivers: BullMQ numbers every job that it is asked to add, also one that it does
   * not store.
   */
  noteDuplicates(count: number): void {
    this.#duplicates += count;
    // A failure is reported by the next call that needs Redis.
    this.#report().catch(() => undefined);
  }

  async read(): Promise<Counts> {
    const [jobs, [known, added, oldest]] = await Promise.all([
      this.#redis.call('getJobCounts', () => this.#queue.getJobCounts(...UNFINISHED)),
      this.#report(),
    ]);
    const depth = Object.values(jobs).reduce((sum, count) => sum + count, 0);
    this.#note(Number(added), Number(added) - Number(known) - depth);
    return { depth, drained: this.#drained, oldestAddedAtMs: oldest === '' ? undefined : Number(oldest) };
  }

  async #report(): Promise<readonly string[]> {
    const duplicates = this.#duplicates;
    this.#duplicates = 0;
    try {
      const toKey = (part: string): string => this.#queue.toKey(part);
      const keys = [toKey('webhook-duplicates'), toKey('id'), toKey('wait')];
      return (await this.#redis.run(READ, [...keys, duplicates, toKey('')])) as string[];
    } catch (error) {
      this.#duplicates += duplicates;
      throw error;
    }
  }

  /** The counts of several commands may differ by the jobs of one moment, so a lower one is ignored. */
  #note(added: number, drained: number): void {
    // Redis was flushed, or the queue was obliterated.
    if (added < this.#added) this.#offset = this.#drained - drained;
    this.#added = added;
    this.#drained = Math.max(this.#drained, drained + this.#offset);
  }
}

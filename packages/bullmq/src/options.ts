import { inspect } from 'node:util';
import { BackpressureError, checkInteger, checkNames, DAY_MS, invalid } from '@webhook-backpressure/base';
import type { FleetRegistry } from '@webhook-backpressure/fleet';

/** The queue of BullMQ 5 or 6 that deliveries are added to: `Queue` of `bullmq` is one. It must be on Redis. */
export interface BullmqQueue {
  /** The name of the queue. */
  readonly name: string;
  /** Adds jobs in one round trip. */
  addBulk(
    jobs: { name: string; data: unknown; opts?: object }[],
  ): Promise<readonly { readonly id?: string | undefined }[]>;
  /** Counts the jobs of each state. */
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  /** The Redis key of a part of the queue. */
  toKey(part: string): string;
}

/** Options of {@link bullmqDoor}. */
export interface BullmqDoorOptions {
  /** The name of the jobs. Default: `webhook`. */
  jobName?: string | undefined;
  /** When the queue is too full for another delivery, beside the capacity of the inbox. */
  limits?: BullmqLimits | undefined;
  /**
   * How long the id of a delivery is remembered after it was stored, in milliseconds, whether its job still exists or not;
   * from 1000 to 31,536,000,000 (one year). Redis keeps about 250 bytes of memory for each id. Default: 3 days.
   */
  retentionMs?: number | undefined;
  /**
   * Where the receivers on this queue see each other, so that each books retries at its share of the rate: for example
   * `redisRegistry(client)` of `@webhook-backpressure/redis`. Default: each receiver books as if it was the only one.
   */
  registry?: FleetRegistry | undefined;
}

/** Limits of the queue in Redis. */
export interface BullmqLimits {
  /**
   * The most unfinished jobs in the queue, including those that other programs have added; an integer of at least 1. The
   * smaller of this and the capacity of the inbox applies. Default: the capacity of the inbox.
   */
  capacity?: number | undefined;
  /**
   * The fraction of `maxmemory` above which deliveries are refused, more than 0 and at most 1. When Redis is full,
   * workers cannot complete jobs any more, so some memory must be left to them. Without `maxmemory` it has no effect.
   * Default: 0.9.
   */
  memory?: number | undefined;
}

/** Validated options. */
export interface Settings {
  readonly jobName: string;
  readonly capacity: number;
  readonly memory: number;
  readonly retentionMs: number;
  readonly registry: FleetRegistry | undefined;
}

const YEAR_MS = 365 * DAY_MS;
const MAX_NAME = 256;

export function settle(queue: BullmqQueue, options: BullmqDoorOptions): Settings {
  checkQueue(queue);
  checkNames(options, 'options', ['jobName', 'limits', 'retentionMs', 'registry']);
  const { jobName = 'webhook', limits = {}, retentionMs = 3 * DAY_MS, registry } = options;
  if (typeof jobName !== 'string' || jobName === '' || jobName.length > MAX_NAME)
    throw invalid('ERR_WBP_BULLMQ_JOB_NAME', 'jobName', 'a string of 1 to 256 characters', jobName);
  if (!(Number.isSafeInteger(retentionMs) && retentionMs >= 1000 && retentionMs <= YEAR_MS))
    throw invalid(
      'ERR_WBP_BULLMQ_RETENTION',
      'retentionMs',
      'an integer of milliseconds from 1,000 to 31,536,000,000',
      retentionMs,
    );
  if (registry !== undefined && typeof (registry as Partial<FleetRegistry> | null)?.beat !== 'function')
    throw invalid('ERR_WBP_FLEET', 'registry', 'a registry, such as redisRegistry() returns', registry);
  checkNames(limits, 'limits', ['capacity', 'memory']);
  const { capacity = Infinity, memory = 0.9 } = limits;
  if (capacity !== Infinity) checkInteger('ERR_WBP_BULLMQ_LIMITS', 'limits.capacity', capacity, 1);
  if (!(typeof memory === 'number' && memory > 0 && memory <= 1))
    throw invalid('ERR_WBP_BULLMQ_LIMITS', 'limits.memory', 'more than 0 and at most 1', memory);
  return { jobName, capacity, memory, retentionMs, registry };
}

function checkQueue(queue: unknown): void {
  const given = queue as Partial<BullmqQueue> | null | undefined;
  const isQueue = [given?.addBulk, given?.getJobCounts, given?.toKey].every(
    (method) => typeof method === 'function',
  );
  if (isQueue && hasClient(given as object)) return;
  throw new BackpressureError(
    'ERR_WBP_BULLMQ_QUEUE',
    isQueue
      ? 'The queue must be on Redis. With PostgreSQL, use the store of @webhook-backpressure/postgres.'
      : `The first argument must be a Queue of bullmq, but was ${inspect(queue, { depth: 0 })}.`,
  );
}

function hasClient(queue: object): boolean {
  return 'getBackend' in queue
    ? 'client' in (queue as { getBackend(): object }).getBackend()
    : 'client' in queue;
}

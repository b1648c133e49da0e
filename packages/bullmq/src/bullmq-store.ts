import { areOtherBodies, bodySum, storedBytes } from '@webhook-backpressure/inbox/store';
import { BackpressureError } from '@webhook-backpressure/base';
import type { FleetRegistry } from '@webhook-backpressure/fleet';
import type {
  Put,
  PutResult,
  ReceivingStats,
  ReceivingStore,
  StoredDelivery,
  StoreEvent,
  StoreLimits,
} from '@webhook-backpressure/inbox';
import { deduplicationIdOf, jobDataOf, newJobId, sumIn } from './jobs.ts';
import { settle, type BullmqDoorOptions, type BullmqQueue, type Settings } from './options.ts';
import { QueueCounts, type Counts } from './queue-counts.ts';
import { RedisAccess } from './redis-access.ts';

/** Senders wait for 5 to 30 s. */
const DEADLINE_MS = 5000;
/** How old the counts may be when a delivery is stored. */
const MAX_AGE_MS = 1000;
/** The bytes of a delivery are averaged over about this many. */
const MEMORY = 100;

/**
 * The store of a receiver that adds verified deliveries to your own queue of BullMQ, where your own workers process them.
 * The receiver acknowledges a delivery when Redis has answered that its job is stored. See the README for what the
 * connection of the queue needs, and for what this cannot promise.
 *
 * @param queue - a `Queue` of BullMQ 5.34 or later, on Redis. The store neither closes it nor listens to its events.
 * @throws BackpressureError for an invalid queue or option.
 */
export function bullmqDoor(queue: BullmqQueue, options: BullmqDoorOptions = {}): ReceivingStore {
  return new BullmqStore(queue, settle(queue, options));
}

/** The machine that runs a store, which tests replace. */
export interface Machine {
  readonly nowMs: () => number;
  readonly deadlineMs: number;
}

const thisMachine: Machine = { nowMs: () => performance.now(), deadlineMs: DEADLINE_MS };

/** Adds deliveries to a queue of BullMQ. */
export class BullmqStore implements ReceivingStore {
  readonly registry: FleetRegistry | undefined;
  readonly #queue: BullmqQueue;
  readonly #settings: Settings;
  readonly #machine: Machine;
  readonly #redis: RedisAccess;
  readonly #counts: QueueCounts;
  /** A delivery that is put again after an error keeps its job id, so that it is no duplicate of itself. */
  readonly #jobIds = new WeakMap<StoredDelivery, string>();
  #counted: Counts = { depth: 0, drained: 0, oldestAddedAtMs: undefined };
  #countedMs = -Infinity;
  /** What this process has added since then. */
  #added = { jobs: 0 };
  #meanBytes = 0;
  #memory = 0;
  #hasWarned = false;
  #listener: ((event: StoreEvent) => void) | undefined;

  constructor(queue: BullmqQueue, settings: Settings, machine: Machine = thisMachine) {
    this.#queue = queue;
    this.#settings = settings;
    this.registry = settings.registry;
    this.#machine = machine;
    this.#redis = new RedisAccess(queue, machine.deadlineMs);
    this.#counts = new QueueCounts(queue, this.#redis);
  }

  watch(listener: (event: StoreEvent) => void): void {
    this.#listener = listener;
  }

  async open(): Promise<ReceivingStats> {
    await this.#redis.connect();
    return await this.stats();
  }

  async stats(): Promise<ReceivingStats> {
    // Those that are added from here on may be missing in the counts. Earlier ones were sent before.
    this.#added = { jobs: 0 };
    const [counted] = await Promise.all([this.#counts.read(), this.#readServer()]);
    this.#counted = counted;
    this.#countedMs = this.#machine.nowMs();
    const { drained, oldestAddedAtMs } = counted;
    const depth = counted.depth + this.#added.jobs;
    // Redis does not know the bytes of its jobs.
    const bytes = Math.round(depth * this.#meanBytes);
    return { depth, drained, bytes, oldestReceivedAtMs: oldestAddedAtMs };
  }

  async put(
    batch: readonly Put[],
    { limits }: { readonly limits: StoreLimits },
  ): Promise<readonly PutResult[]> {
    if (this.#machine.nowMs() - this.#countedMs > MAX_AGE_MS) await this.stats();
    const room = this.#roomIn(limits);
    const accepted = batch.filter(({ isOverflow }) => !isOverflow).slice(0, room);
    if (accepted.length === 0) return batch.map(() => 'full');
    const jobs = accepted.map(({ delivery }) => this.#jobOf(delivery));
    // Also when the call fails: some may have been stored.
    const added = this.#added;
    added.jobs += jobs.length;
    const stored = await this.#redis.call('addBulk', () => this.#queue.addBulk(jobs));
    const results = new Map(
      accepted.map((put, at): [Put, PutResult] => [put, this.#resultOf(put.delivery, stored[at]?.id)]),
    );
    const duplicates = accepted.filter((put) => results.get(put) !== 'stored').length;
    added.jobs -= duplicates;
    if (duplicates > 0) this.#counts.noteDuplicates(duplicates);
    return batch.map((put) => results.get(put) ?? 'full');
  }

  close(): void {
    this.#listener = undefined;
  }

  #roomIn({ capacity, maxBytes }: StoreLimits): number {
    if (this.#memory >= this.#settings.memory) return 0;
    const depth = this.#counted.depth + this.#added.jobs;
    const byBytes = this.#meanBytes === 0 ? Infinity : Math.floor(maxBytes / this.#meanBytes);
    return Math.max(0, Math.min(capacity, this.#settings.capacity, byBytes) - depth);
  }

  #jobOf(delivery: StoredDelivery): { name: string; data: unknown; opts: object } {
    if (delivery.sealedBy !== undefined)
      throw new BackpressureError(
        'ERR_WBP_BULLMQ_ENCRYPT',
        'The option encrypt cannot be used with bullmqDoor(): the workers of your queue could not decrypt the jobs.',
      );
    const bytes = storedBytes(delivery);
    this.#meanBytes += (bytes - this.#meanBytes) / (this.#meanBytes === 0 ? 1 : MEMORY);
    const { key, id, isIdGenerated, receivedAtMs, notBeforeMs = receivedAtMs } = delivery;
    let jobId = this.#jobIds.get(delivery);
    if (jobId === undefined) this.#jobIds.set(delivery, (jobId = newJobId(delivery)));
    // Redis sets the key of the deduplication in the script that stores the job, so neither is ever there without the
    // other, and lets it expire, so it outlives the job. Undefined replaces a default of the queue, by which BullMQ would
    // ignore other deliveries.
    const deduplication = isIdGenerated
      ? undefined
      : { id: deduplicationIdOf(key, id), ttl: this.#settings.retentionMs };
    return {
      name: this.#settings.jobName,
      data: jobDataOf(delivery),
      // BullMQ adds the delay to the timestamp. Zero would replace a default of the queue.
      opts: {
        jobId,
        deduplication,
        timestamp: receivedAtMs,
        ...(notBeforeMs > receivedAtMs && { delay: notBeforeMs - receivedAtMs }),
      },
    };
  }

  #resultOf(delivery: StoredDelivery, jobId: string | undefined): PutResult {
    if (jobId === this.#jobIds.get(delivery)) return 'stored';
    // BullMQ 5 returns some error codes of its scripts as the id of the job.
    const sum = delivery.isIdGenerated ? undefined : sumIn(String(jobId));
    if (sum === undefined)
      throw new Error(`BullMQ has not stored a delivery, and returned the job id ${String(jobId)}.`);
    return areOtherBodies(sum, bodySum(delivery)) ? 'conflict' : 'duplicate';
  }

  async #readServer(): Promise<void> {
    const { memory, dangers } = await this.#redis.info();
    this.#memory = memory;
    if (this.#hasWarned || dangers.length === 0) return;
    this.#hasWarned = true;
    this.#listener?.({
      type: 'warning',
      code: 'WBP_BULLMQ_DURABILITY',
      message: `Redis may lose acknowledged deliveries of the queue ${this.#queue.name}: ${dangers.join(' ')}`,
    });
  }
}

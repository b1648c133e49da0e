import { Queue, Worker, type Job } from 'bullmq';
import { Queue as Queue5, Worker as Worker5 } from 'bullmq5';
import type { Put, StoredDelivery, StoreLimits } from '@webhook-backpressure/inbox';
import { redisPrefix, redisUrl } from '../redis/bed.ts';

/** The versions of BullMQ that are tested: the latest, and the lowest one. */
export const VERSIONS = [
  { version: 6, Queue, Worker },
  // The types of the two cannot be called as one. test/types/bullmq.ts compiles the door with each of them.
  { version: 5, Queue: Queue5 as unknown as typeof Queue, Worker: Worker5 as unknown as typeof Worker },
] as const;

const RECONNECT_MS = 20;

type Version = (typeof VERSIONS)[number];

export const LIMITS: StoreLimits = {
  capacity: 100_000,
  maxBytes: 2 ** 30,
  maxDeadLetters: 1000,
  maxDeadLetterBytes: 2 ** 30,
};

/** Queues and workers of one test, with keys that no other test uses. */
export class BullmqBed {
  readonly prefix: string = redisPrefix();
  readonly #version: Version;
  readonly #url: string;
  readonly #open: (Queue | Worker)[] = [];
  #isOver = false;

  constructor(version: Version = VERSIONS[0], url: string = redisUrl) {
    this.#version = version;
    this.#url = url;
  }

  /** Another connection to the same queue. */
  queue(options: object = {}, connection: object = {}): Queue {
    const queue = new this.#version.Queue('orders', {
      ...options,
      prefix: this.prefix,
      connection: { ...this.#address, enableOfflineQueue: false, maxRetriesPerRequest: 1, ...connection },
    });
    // BullMQ prints errors that no listener gets.
    queue.on('error', () => undefined);
    this.#open.push(queue);
    return queue;
  }

  /** A worker of the queue. */
  worker(process: (job: Job) => Promise<unknown>, options: object = {}): Worker {
    const worker = new this.#version.Worker('orders', process, {
      ...options,
      prefix: this.prefix,
      connection: { ...this.#address, maxRetriesPerRequest: null },
    });
    worker.on('error', () => undefined);
    this.#open.push(worker);
    return worker;
  }

  async dispose(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#open.map((one) => one.close()));
  }

  get #address(): object {
    const { hostname, port } = new URL(this.#url);
    const retryStrategy = (): number | null => (this.#isOver ? null : RECONNECT_MS);
    return { host: hostname, port: Number(port), retryStrategy };
  }
}

/** A verified delivery, to be put. */
export function put(id: string, over: Partial<StoredDelivery> = {}): Put {
  const delivery: StoredDelivery = {
    key: 'shop',
    id,
    isIdGenerated: false,
    sender: undefined,
    request: { method: 'POST', url: '/webhooks', params: {} },
    context: null,
    headers: { 'content-type': 'application/json' },
    rawBody: new TextEncoder().encode(`{"id":"${id}"}`),
    receivedAtMs: Date.now(),
    sealedBy: undefined,
    fingerprint: undefined,
    ...over,
  };
  return { delivery, isOverflow: false };
}

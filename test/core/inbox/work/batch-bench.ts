import type { BatchContext, InboxDelivery, InboxOptions } from '@webhook-backpressure/inbox';
import { InboxBench, turns } from '../inbox-bench.ts';

/** A batch that runs until the test ends it. */
export interface Batch extends BatchContext {
  readonly ids: string[];
  readonly finish: (result?: unknown) => Promise<void>;
  readonly fail: (error?: Error) => Promise<void>;
}

/** An inbox whose batches the test ends. */
export class BatchBench extends InboxBench {
  readonly batches: Batch[];

  constructor(options: Partial<InboxOptions> = {}) {
    const batches: Batch[] = [];
    super({
      process: undefined,
      keyGenerator: ({ headers }) => headers['x-key'] ?? 'a',
      processBatch: (deliveries: readonly InboxDelivery[], context) =>
        new Promise((resolve, reject) => {
          batches.push({
            ids: deliveries.map(({ id }) => id),
            attempts: context.attempts,
            signal: context.signal,
            finish: (result) => {
              resolve(result);
              return turns(20);
            },
            fail: (error = new Error('it failed')) => {
              reject(error);
              return turns(20);
            },
          });
        }),
      ...options,
    });
    this.batches = batches;
  }

  async fill(ids: readonly (string | number)[], key = 'a', body = '{}'): Promise<void> {
    await Promise.all(ids.map((id) => this.send(String(id), body, { 'x-key': key })));
    await turns(20);
  }

  get ids(): string[][] {
    return this.batches.map(({ ids }) => ids);
  }
}

export const range = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => String(from + at));

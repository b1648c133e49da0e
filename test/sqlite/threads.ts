import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { InboxStore } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { vi } from 'vitest';
import { START } from '../core/inbox/store/cases/store-words.ts';
import { Scratch } from './scratch.ts';

/** Stores in threads, on one file, and the threads that were started for them. */
export class Threads {
  readonly scratch: Scratch = new Scratch();
  readonly started: Worker[] = [];
  readonly #stores: InboxStore[] = [];

  constructor() {
    const { started } = this;
    const unref = Reflect.get(Worker.prototype, 'unref');
    vi.spyOn(Worker.prototype, 'unref').mockImplementation(function (this: Worker) {
      if (!started.includes(this)) started.push(this);
      unref.call(this);
    });
  }

  store(path: string = this.scratch.file()): InboxStore {
    const store = sqliteStore({ path, thread: true, busyTimeoutMs: 0 });
    this.#stores.push(store);
    return store;
  }

  async opened(): Promise<InboxStore> {
    const store = this.store();
    await store.open(START);
    return store;
  }

  /** Ends the last thread, whatever it does, as a crash of it would. */
  async kill(during?: () => unknown): Promise<void> {
    const worker = this.started.at(-1);
    if (worker === undefined) throw new Error('there is no thread');
    const exit = once(worker, 'exit');
    during?.();
    await worker.terminate();
    await exit;
  }

  async dispose(): Promise<void> {
    vi.restoreAllMocks();
    await Promise.allSettled(this.#stores.map(async (store) => store.close(START)));
    this.scratch.dispose();
  }
}

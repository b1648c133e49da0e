import { MessagePort, Worker } from 'node:worker_threads';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { vi } from 'vitest';
import { START } from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from './scratch.ts';

/** Stores on one file, and their threads. */
export class Threads {
  readonly scratch: Scratch = new Scratch();
  readonly started: Worker[] = [];
  readonly #stores: InboxStore[] = [];
  /** The port of each thread. */
  readonly #ports = new Map<Worker, MessagePort>();

  constructor() {
    const { started } = this;
    const ports = this.#ports;
    let lastPort: MessagePort | undefined;
    const unref = Reflect.get(Worker.prototype, 'unref');
    vi.spyOn(Worker.prototype, 'unref').mockImplementation(function (this: Worker) {
      if (!started.includes(this)) {
        started.push(this);
        // A store calls `unref` on the port of a new thread just before the thread.
        if (lastPort !== undefined) ports.set(this, lastPort);
      }
      unref.call(this);
    });
    const unrefPort = Reflect.get(MessagePort.prototype, 'unref');
    vi.spyOn(MessagePort.prototype, 'unref').mockImplementation(function (this: MessagePort) {
      // eslint-disable-next-line @typescript-eslint/no-this-alias -- the port that the store holds
      lastPort = this;
      unrefPort.call(this);
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

  /**
   * Ends the last thread with an uncaught exception, and resolves when it has ended. The calls of `during` are sent after
   * the exception, and lost. The thread is not terminated: during a call, libsql would end the whole process.
   */
  async crash(during?: () => unknown): Promise<void> {
    const worker = this.started.at(-1);
    const port = worker && this.#ports.get(worker);
    if (worker === undefined || port === undefined) throw new Error('there is no thread');
    const exit = new Promise((resolve) => worker.once('exit', resolve));
    port.postMessage(null);
    during?.();
    await exit;
  }

  async dispose(): Promise<void> {
    vi.restoreAllMocks();
    await Promise.allSettled(this.#stores.map(async (store) => store.close(START)));
    this.scratch.dispose();
  }
}

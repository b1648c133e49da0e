import {
  createInbox,
  createWorker,
  type Inbox,
  type InboxAnswer,
  type InboxEvent,
  type InboxOptions,
  type InboxStore,
  type ReceiverOptions,
  type WorkerOptions,
} from '@webhook-backpressure/inbox';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { memoryRegistry } from '@webhook-backpressure/fleet';
import { turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';

/** Receivers and workers that share deliveries in memory, on one manual clock. */
export class Tier {
  readonly clock: ManualClock = manualClock();
  readonly state: MemoryState = new MemoryState();
  readonly receivers: Inbox[] = [];
  readonly workers: Inbox[] = [];
  readonly events: InboxEvent[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly #registry = memoryRegistry(this.clock);
  readonly #common = { clock: this.clock, wallClock: (): number => START + this.clock.now() };
  #seed = 1;
  #sent = 0;

  /** Another owner of the deliveries. */
  store(): InboxStore {
    return new MemoryStore(this.state);
  }

  /** The same, but workers learn immediately of deliveries that others have stored, as those on PostgreSQL do. */
  storeWithEvents(): InboxStore {
    const store = this.store();
    const put = store.put.bind(store);
    store.put = (...args) => {
      const results = put(...args);
      for (const listener of this.#listeners) queueMicrotask(listener);
      return results;
    };
    store.watch = (listener) => {
      this.#listeners.push(() => {
        listener({ type: 'due' });
      });
    };
    return store;
  }

  addReceiver(options: Partial<ReceiverOptions> = {}, isInRegistry = false): Inbox {
    const store = options.store ?? this.store();
    if (isInRegistry) Object.assign(store, { registry: this.#registry });
    const inbox = createInbox({
      ...this.#common,
      verify: false,
      random: this.#random(),
      ...options,
      store,
    });
    inbox.subscribe((event) => this.events.push(event));
    this.receivers.push(inbox);
    return inbox;
  }

  /** A receiver with workers, whose handlers never end. */
  addBoth(options: Partial<InboxOptions> = {}): Inbox {
    const inbox = createInbox({
      ...this.#common,
      store: this.store(),
      verify: false,
      random: this.#random(),
      process: () => new Promise(() => undefined),
      ...options,
    });
    this.receivers.push(inbox);
    return inbox;
  }

  /** Workers whose handlers take `handlingMs`. */
  addWorker(handlingMs: () => number, options: Partial<WorkerOptions> = {}): Inbox {
    const worker = createWorker({
      ...this.#common,
      store: this.store(),
      random: this.#random(),
      process: () =>
        new Promise((resolve) => {
          this.clock.setTimeout(() => {
            resolve(undefined);
          }, handlingMs());
        }),
      ...options,
    });
    worker.subscribe((event) => this.events.push(event));
    this.workers.push(worker);
    return worker;
  }

  send(inbox: Inbox, id = `evt_${String((this.#sent += 1))}`): Promise<InboxAnswer | null> {
    return inbox.receive({
      headers: { 'webhook-id': id },
      hint: '',
      read: (body) => {
        body.add(new TextEncoder().encode('{}'));
        return Promise.resolve('whole');
      },
    });
  }

  /** Advances in steps, so that workers of different inboxes take turns. */
  async pass(ms: number, stepMs = 20, each: () => void = () => undefined): Promise<void> {
    for (let at = 0; at < ms; at += stepMs) {
      each();
      this.clock.advance(stepMs);
      await turns(4);
    }
  }

  async close(): Promise<void> {
    const all = [...this.receivers, ...this.workers];
    const closing = Promise.all(all.map((inbox) => inbox.close({ timeoutMs: 0 })));
    for (let at = 0; at < 5; at += 1) {
      await turns();
      this.clock.advance(1000);
    }
    await closing;
  }

  #random(): () => number {
    let state = (this.#seed += 1);
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
  }
}

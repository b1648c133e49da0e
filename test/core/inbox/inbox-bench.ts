import {
  createInbox,
  type Inbox,
  type InboxAnswer,
  type InboxDelivery,
  type InboxEvent,
  type InboxOptions,
  type InboxRequest,
  type InboxStore,
  memoryStore,
  type ProcessContext,
} from '@webhook-backpressure/inbox';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { START } from './store/cases/store-fixtures.ts';

/** A handler that runs until the test ends it. */
export interface Call extends ProcessContext {
  readonly delivery: InboxDelivery;
  readonly finish: () => Promise<void>;
  readonly fail: (error?: Error) => Promise<void>;
}

/** Lets promises and immediates settle, without advancing time. */
export async function turns(count = 12): Promise<void> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** An inbox on a manual clock whose handlers the test ends. */
export class InboxBench {
  readonly clock: ManualClock = manualClock();
  readonly inbox: Inbox;
  readonly store: InboxStore;
  readonly events: InboxEvent[] = [];
  /** Handlers that were started, in order. */
  readonly calls: Call[] = [];
  wallOffsetMs: number;

  /** @param wallOffsetMs - the wall clock at the start of the manual one. */
  constructor(options: Partial<InboxOptions> = {}, wallOffsetMs: number = START) {
    this.wallOffsetMs = wallOffsetMs;
    this.store = options.store ?? memoryStore();
    this.inbox = createInbox({
      process: (delivery, context) => this.#begin(delivery, context),
      verify: false,
      clock: this.clock,
      wallClock: () => this.wallOffsetMs + this.clock.now(),
      random: () => 0.5,
      retryAfter: { strategy: 'depth' },
      ...options,
      store: this.store,
    });
    this.inbox.subscribe((event) => this.events.push(event));
  }

  #begin(delivery: InboxDelivery, context: ProcessContext): Promise<void> {
    return new Promise((resolve, reject) => {
      this.calls.push({
        delivery,
        attempt: context.attempt,
        signal: context.signal,
        complete: context.complete,
        finish: () => {
          resolve();
          return turns();
        },
        fail: (error = new Error('it failed')) => {
          reject(error);
          return turns();
        },
      });
    });
  }

  /** Sends a delivery without waiting for the answer. */
  send(
    id: string | undefined,
    body = '{}',
    headers: Record<string, string> = {},
    request: Partial<InboxRequest> = {},
  ): Promise<InboxAnswer | null> {
    return this.inbox.receive({
      method: 'POST',
      url: '/webhooks?shop=1',
      ...request,
      headers: { ...(id === undefined ? {} : { 'webhook-id': id }), ...headers },
      hint: 'Do not.',
      read: (collector) => {
        collector.add(new TextEncoder().encode(body));
        return Promise.resolve('whole');
      },
    });
  }

  async deliver(
    id: string | undefined,
    body = '{}',
    headers: Record<string, string> = {},
    request: Partial<InboxRequest> = {},
  ): Promise<InboxAnswer> {
    const answer = await this.send(id, body, headers, request);
    if (answer === null) throw new Error('no answer');
    await turns();
    return answer;
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    await turns();
  }

  /** The handler that was started last. */
  get last(): Call {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error('no handler was begun');
    return call;
  }

  /** The events of these types, each as one line. */
  told(...types: readonly InboxEvent['type'][]): string[] {
    return this.events
      .filter(({ type }) => types.includes(type))
      .map((event) => ('id' in event ? `${event.type} ${event.id}` : event.type));
  }
}

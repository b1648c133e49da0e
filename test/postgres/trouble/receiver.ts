import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InboxEvent, InboxOptions, InboxStore } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import express from 'express';

type Type = InboxEvent['type'];
type EventOf<T extends Type> = Extract<InboxEvent, { readonly type: T }>;

/** A receiver with workers: Express, and an inbox. It logs its events. */
export class TroubledReceiver {
  readonly events: InboxEvent[] = [];
  /** Ids whose handler has run, in order. */
  readonly handled: string[] = [];
  readonly inbox: ReturnType<typeof webhookInbox>['inbox'];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  constructor(store: InboxStore, options: Partial<InboxOptions> = {}) {
    const webhooks = webhookInbox({
      store,
      verify: false,
      retry: { firstDelayMs: 1, maxDelayMs: 50, attempts: 20 },
      process: (delivery) => {
        this.handled.push(delivery.id);
        this.#look();
      },
      ...options,
    });
    this.inbox = webhooks.inbox;
    this.inbox.subscribe((event) => {
      this.events.push(event);
      this.#look();
    });
    const app = express();
    app.post('/webhooks', webhooks);
    this.#server = createServer(app).listen(0, '127.0.0.1');
  }

  /** Sends a delivery. Returns the status of the answer. */
  async send(id: string, body = '{}'): Promise<number> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return await new Promise((resolve, reject) => {
      const headers = { 'webhook-id': id, 'content-type': 'application/json' };
      const sent = request(
        { host: '127.0.0.1', port, path: '/webhooks', method: 'POST', headers, agent: false },
        (answer) => {
          answer.resume().once('end', () => {
            resolve(answer.statusCode ?? 0);
          });
        },
      );
      sent.once('error', reject).end(body);
    });
  }

  /** Sends a delivery until it is acknowledged. Returns how often it was refused. */
  async deliver(id: string, body?: string): Promise<number> {
    for (let refused = 0; ; refused += 1) {
      const status = await this.send(id, body);
      if (status < 300) return refused;
      // The inbox calls the store again after a pause, and says so only by an acknowledgement.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves when it holds after an event or a handler. */
  async until(holds: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Resolves when all these ids were completed. */
  async completed(...ids: readonly string[]): Promise<void> {
    await this.until(() => {
      const done = new Set(this.of('completed').map(({ id }) => id));
      return ids.every((id) => done.has(id));
    });
  }

  /** The events of a type, in order. */
  of<T extends Type>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The codes of the store's failures, in order. */
  get codes(): string[] {
    return this.of('store-failed').map(({ error }) => /ERR_WBP_\w+/.exec(error)?.[0] ?? error);
  }

  /** Resolves to the first failure of a call of the store, whenever that was or will be. */
  async failed(call: string): Promise<string> {
    const found = (): string | undefined => this.of('store-failed').find((one) => one.call === call)?.error;
    await this.until(() => found() !== undefined);
    return found() ?? '';
  }

  async close(): Promise<void> {
    await this.inbox.close({ timeoutMs: 1000 });
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

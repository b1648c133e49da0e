import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { type Inbox, type InboxEvent, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import type { InboxDriver } from '../../conformance/adapter.ts';
import { adapters } from '../../conformance/adapters.ts';

export type { InboxDriver };

export const inboxDrivers: readonly InboxDriver[] = adapters.map(({ inbox }) => inbox);

const running: InboxReceiver[] = [];

export async function stopReceivers(): Promise<void> {
  await Promise.all(running.splice(0).map((receiver) => receiver.stop()));
}

/** A server with an inbox. */
export class InboxReceiver {
  readonly inbox: Inbox;
  readonly errors: unknown[] = [];
  readonly events: InboxEvent[] = [];
  readonly server: Server;
  readonly #sockets: Socket[] = [];

  constructor(driver: InboxDriver, options: Partial<InboxOptions> = {}, reads = false) {
    const defaults = { store: memoryStore(), process: () => undefined, verify: false } as const;
    const served = driver.serve({ ...defaults, ...options }, reads, (error) => this.errors.push(error));
    this.inbox = served.inbox;
    this.inbox.subscribe((event) => this.events.push(event));
    this.server = createServer((req, res) => void served.listener(req, res));
    running.push(this);
  }

  async start(): Promise<this> {
    this.server.listen(0);
    await once(this.server, 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  post(body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}): Promise<Response> {
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      body: body as string,
      headers,
      duplex: 'half',
    };
    return fetch(`http://127.0.0.1:${String(this.port)}/webhooks`, init);
  }

  /** A raw connection. */
  async dial(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    this.#sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves on the next event of a type. */
  next(type: InboxEvent['type']): Promise<InboxEvent> {
    return new Promise((resolve) => {
      const end = this.inbox.subscribe((event) => {
        if (event.type !== type) return;
        end();
        resolve(event);
      });
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.closeAllConnections();
    this.server.close();
    await this.inbox.close({ timeoutMs: 0 });
  }
}

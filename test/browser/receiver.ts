import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Inbox, memoryStore, Unrecoverable } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { createSender, type Sender } from '@webhook-backpressure/sender';
import express from 'express';
import { Gate } from './gate.ts';

/** Behind a prefix, as in most apps. */
const MOUNTED_AT = '/ops/backpressure';

/** Only a browser with this cookie is authorized. */
export const SESSION = { name: 'session', value: 'operator' };

/** Small, so that a burst that fills it is small, too. */
const INTAKE = { capacity: 50, concurrency: 2, maxWaitMs: 60_000, maxHandlingMs: 120_000 };

/** An Express app with the middleware, an inbox and the live page. */
export class Receiver {
  readonly intake: Intake;
  readonly inbox: Inbox;
  /** Endpoints whose id begins with `busy` answer 429, and with `broken` 400. */
  readonly sender: Sender;
  /** Handlers of the middleware end when it is open. */
  readonly gate: Gate = new Gate();
  /** Whether deliveries of the inbox end as dead letters. */
  isInboxBroken = true;
  readonly #server: Server;
  #port = 0;
  readonly #page: ReturnType<typeof dashboard>;

  constructor() {
    const middleware = webhookBackpressure({
      ...INTAKE,
      keyGenerator: (req) => tenantOf(req.get('x-tenant')),
    });
    const webhooks = webhookInbox({
      store: memoryStore(),
      verify: false,
      keyGenerator: ({ headers }) => tenantOf(String(headers['x-tenant'])),
      process: () => {
        if (this.isInboxBroken) throw new Unrecoverable('The order does not exist.');
      },
    });
    this.intake = middleware.intake;
    this.inbox = webhooks.inbox;
    // Without a listener, the first failure would be a warning of the process.
    this.inbox.subscribe(() => undefined);
    this.sender = createSender({
      store: memoryStore(),
      endpoint: (id) => ({ url: `https://receiver.example/${encodeURIComponent(id)}`, secret: null }),
      fetch: (url) => Promise.resolve(new Response(null, { status: statusOf(url) })),
    });
    this.sender.subscribe(() => undefined);
    this.#page = dashboard({
      intakes: { webhooks: this.intake },
      inboxes: { orders: this.inbox },
      outboxes: { outgoing: this.sender },
      authorize: ({ headers }) =>
        headers.get('cookie')?.includes(`${SESSION.name}=${SESSION.value}`) === true,
      allowUpdate: true,
    });

    const app = express();
    app.use('/webhooks', middleware);
    app.post('/webhooks', async (_req, res) => {
      await this.gate.pass();
      res.sendStatus(204);
    });
    app.post('/inbox', webhooks);
    app.use(MOUNTED_AT, this.#page.node);
    this.#server = createServer(app);
  }

  get port(): number {
    return this.#port;
  }

  /** @param port - 0: the system chooses. */
  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  /** Without a slash at the end, as an operator types it. */
  get page(): string {
    return `${this.origin}${MOUNTED_AT}`;
  }

  /** Ends as if the process had died. */
  async close(): Promise<void> {
    this.gate.open();
    this.#page.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    await Promise.all([this.intake.close(), this.inbox.close(), this.sender.close()]);
  }
}

/** Encoded, because a header takes only some characters. */
function tenantOf(header = ''): string {
  return decodeURIComponent(header);
}

function statusOf(url: string | URL | Request): number {
  const { pathname } = new URL(url instanceof Request ? url.url : url);
  return pathname.startsWith('/busy') ? 429 : pathname.startsWith('/broken') ? 400 : 204;
}

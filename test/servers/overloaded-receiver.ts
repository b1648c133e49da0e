import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express from 'express';

/** Long enough that the clients, which share the processor, hardly affect it. */
const HANDLING_MS = 20;
/** How early timers of a client may be by the receiver's clock. */
const EARLY_MS = 50;

/** The record of one delivery. */
export interface History {
  attempts: number;
  handled: number;
  /** Attempts that arrived before the previous Retry-After was over. */
  early: number;
  readonly told: number[];
  dueMs: number;
}

/** An Express app that handles at most 50 deliveries per second and sheds from the 64th waiting one. */
export class OverloadedReceiver {
  readonly deliveries = new Map<string, History>();
  /** Handlers wait for it. */
  held: Promise<void> = Promise.resolve();
  readonly middleware = webhookBackpressure({
    capacity: 80,
    // The work of one second, so that retries arrive before the queue is empty.
    lowWaterMark: 0.65,
    concurrency: 1,
    // So that the test ends in time on a slow machine.
    retryAfter: { maxSeconds: 4 },
    delivery: ({ headers }) => ({ id: String(headers['webhook-id']) }),
  });
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();

  constructor() {
    const app = express();
    app.use((req, res, next) => {
      const history = this.#historyOf(String(req.headers['webhook-id']));
      history.attempts += 1;
      if (performance.now() < history.dueMs - EARLY_MS) history.early += 1;
      res.once('finish', () => {
        const seconds = Number(res.getHeader('Retry-After') ?? 0);
        if (seconds === 0) return;
        history.told.push(seconds);
        history.dueMs = performance.now() + seconds * 1000;
      });
      next();
    });
    app.use(this.middleware);
    app.post('/', express.json(), async (req, res) => {
      await this.held;
      await setTimeout(HANDLING_MS);
      this.#historyOf(String(req.headers['webhook-id'])).handled += 1;
      res.sendStatus(200);
    });
    this.#server = createServer(app);
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0), 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/`;
  }

  /** Waits until this many different deliveries have arrived at least once. */
  async whenArrived(count: number): Promise<void> {
    while (this.deliveries.size < count) await once(this.#arrivals, 'arrived');
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #historyOf(id: string): History {
    let history = this.deliveries.get(id);
    if (history === undefined) {
      history = { attempts: 0, handled: 0, early: 0, told: [], dueMs: -Infinity };
      this.deliveries.set(id, history);
      this.#arrivals.emit('arrived');
    }
    return history;
  }
}

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { HistoryEvent } from '@webhook-backpressure/core/testing';

const MAX_MS = 8;
const SLOW_SHARE = 0.02;
const MAX_SLOW_MS = 150;

/** Receives webhooks for all endpoints, usually within milliseconds, and records them. */
export class SlowEndpoint {
  /** Each complete request is a run that ends; and what died. */
  readonly log: HistoryEvent[] = [];
  readonly #deaths: HistoryEvent[] = [];
  /** Requests whose signature, id or body is wrong. */
  readonly wrong: string[] = [];
  /** Called at each complete request. */
  onArrival: () => void = () => undefined;
  requests = 0;
  inFlight = 0;
  readonly #server: Server;
  readonly #key: Buffer;
  readonly #chance: () => number;

  constructor(secret: string, chance: () => number) {
    this.#key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    this.#chance = chance;
    this.#server = createServer((request, response) => {
      // A sender that was killed has closed the connection.
      this.#receive(request, response).catch(() => undefined);
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Call it when a sender is killed. */
  died(life: number): void {
    const death = { type: 'died', atMs: Date.now(), worker: String(life) };
    this.#deaths.push(death);
    this.log.push(death);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight += 1;
    response.once('close', () => {
      this.inFlight -= 1;
    });
    const body = Buffer.concat(await request.toArray());
    this.#record(request, body);
    const isSlow = this.#chance() < SLOW_SHARE;
    await setTimeout(this.#chance() * (isSlow ? MAX_SLOW_MS : MAX_MS));
    response.writeHead(204).end();
  }

  #record({ url = '', headers }: IncomingMessage, body: Buffer): void {
    const { pathname, searchParams } = new URL(url, 'http://endpoint');
    const id = String(headers['webhook-id']);
    const key = pathname.slice(1);
    const signed = `${id}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    const signature = `v1,${createHmac('sha256', this.#key).update(signed).digest('base64')}`;
    const { data } = JSON.parse(body.toString()) as { readonly data: { readonly id: string } };
    if (headers['webhook-signature'] !== signature || data.id !== id) this.wrong.push(`${key}/${id}`);
    const arrival = { key, id, worker: String(searchParams.get('life')), atMs: Date.now() };
    this.log.push({ ...arrival, type: 'started' }, { ...arrival, type: 'ended' });
    // A request may be read after the death of its sender.
    this.log.push(...this.#deaths.filter(({ worker }) => worker === arrival.worker));
    this.requests += 1;
    this.onArrival();
  }
}

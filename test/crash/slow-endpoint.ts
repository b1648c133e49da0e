import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Repeat } from './handler-log.ts';

/** A request that has arrived completely. */
interface Arrival {
  readonly life: number;
  readonly atMs: number;
}

const MAX_MS = 8;
const SLOW_SHARE = 0.02;
const MAX_SLOW_MS = 150;

/** Receives webhooks for all endpoints, usually within milliseconds, and records them. */
export class SlowEndpoint {
  /** By endpoint and id, such as `ep1/7-12`. */
  readonly arrivals = new Map<string, Arrival[]>();
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

  /** Requests for an event that had been received before. */
  repeats(): Repeat[] {
    return [...this.arrivals].flatMap(([id, all]) =>
      all.slice(1).map((arrival, at) => {
        const before = all[at] as Arrival;
        return { id, life: before.life, fromMs: before.atMs, toMs: arrival.atMs };
      }),
    );
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
    const name = `${pathname.slice(1)}/${id}`;
    const signed = `${id}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    const signature = `v1,${createHmac('sha256', this.#key).update(signed).digest('base64')}`;
    const { data } = JSON.parse(body.toString()) as { readonly data: { readonly id: string } };
    if (headers['webhook-signature'] !== signature || data.id !== id) this.wrong.push(name);
    const arrival = { life: Number(searchParams.get('life')), atMs: Date.now() };
    this.arrivals.set(name, [...(this.arrivals.get(name) ?? []), arrival]);
    this.requests += 1;
    this.onArrival();
  }
}

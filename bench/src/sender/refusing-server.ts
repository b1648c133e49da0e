import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How requests are refused the first time: with a Retry-After of so many seconds, as a number or as a date. */
export interface Asked {
  readonly seconds: number;
  readonly isDate: boolean;
}

interface Refused {
  readonly asked: Asked;
  /** On the clock of the asked form. */
  readonly notBeforeMs: number;
  /** Undefined until the retry. */
  earlyMs?: number;
}

/** A receiver that refuses each id once, and notes by how much its retry was early. */
export class RefusingServer {
  readonly #refused = new Map<string, Refused>();
  readonly #server = createServer(this.#listener());

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** By how many milliseconds retries were early; negative: late. */
  earlyMs(asked: Asked): readonly number[] {
    const same = [...this.#refused.values()].filter(
      (one) => one.asked.seconds === asked.seconds && one.asked.isDate === asked.isDate,
    );
    return same.flatMap(({ earlyMs }) => earlyMs ?? []);
  }

  #listener(): RequestListener {
    return (request, response) => {
      const id = String(request.headers['webhook-id']);
      const [, seconds = '1', form = ''] = (request.url ?? '').split('/');
      const asked = { seconds: Number(seconds), isDate: form === 'date' };
      const now = (): number => (asked.isDate ? Date.now() : performance.now());
      const known = this.#refused.get(id);
      if (known !== undefined) known.earlyMs ??= known.notBeforeMs - now();
      request.resume().once('end', () => {
        if (known !== undefined) {
          response.end();
          return;
        }
        const at = new Date(Math.floor(Date.now() / 1000 + asked.seconds) * 1000);
        const notBeforeMs = asked.isDate ? at.getTime() : performance.now() + asked.seconds * 1000;
        this.#refused.set(id, { asked, notBeforeMs });
        response.writeHead(429, { 'retry-after': asked.isDate ? at.toUTCString() : seconds }).end();
      });
    };
  }
}

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver behind the balancer. It answers with its name. */
export class Receiver {
  readonly name: string;
  /** Replaces the answer. */
  answer: RequestListener | undefined;
  requests = 0;
  connections = 0;
  readonly #server: Server;

  constructor(name: string) {
    this.name = name;
    this.#server = createServer((req, res) => {
      this.requests += 1;
      // A response to a body that was not read would close the connection.
      req.resume();
      if (this.answer === undefined) res.end(name);
      else this.answer(req, res);
    }).on('connection', () => (this.connections += 1));
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends as a process that is killed: its connections are cut, and no new ones are accepted. */
  async die(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

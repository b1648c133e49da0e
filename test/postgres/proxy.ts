import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What is done with the next statement that contains a text. */
interface Cut {
  readonly when: 'before-arrival' | 'before-answer';
  readonly text: string;
  readonly answer: string;
  done(): void;
}

/** The network between a store and its server: it can stop, and break connections at a chosen moment. */
export class Proxy {
  /** How many pieces have arrived from clients and from the server since this was set to 0. */
  pieces = 0;
  /** The piece that breaks its connection instead of being passed on; 0 for none. */
  breakAt = 0;
  /** How many connections were opened through it. */
  connections = 0;
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #pairs = new Set<readonly [Socket, Socket]>();
  #isStopped = false;
  #cut: Cut | undefined;

  private constructor(target: number) {
    this.#target = target;
    // A FIN is passed on by hand, so that none passes while it is stopped.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#join(socket);
    });
  }

  /** @param connectionString - a server on this machine. */
  static async to(connectionString: string): Promise<Proxy> {
    const proxy = new Proxy(Number(new URL(connectionString).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The connection string of a server, through the proxy. */
  via(connectionString: string): string {
    return connectionString.replace(/:\d+\//, `:${String(this.port)}/`);
  }

  /** Passes no byte on, in no direction, and opens no connection, as a network that drops packets. */
  stop(): void {
    this.#isStopped = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Passes on what has been sent meanwhile. */
  resume(): void {
    this.#isStopped = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  /** Breaks all connections, and the server does not notice. */
  breakUnnoticed(): void {
    const pairs = this.#pairs;
    this.#pairs = new Set();
    for (const [near] of pairs) near.resetAndDestroy();
  }

  /** Breaks all connections. */
  break(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  /**
   * Breaks the connection of the next statement that contains a text: before it arrives at the server, or after the
   * server has committed it and before its answer arrives.
   *
   * @param answer - only if the answer contains this.
   */
  cut(when: Cut['when'], text: string, answer = ''): Promise<void> {
    return new Promise((resolve) => {
      this.#cut = { when, text, answer, done: resolve };
    });
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket): void {
    this.connections += 1;
    const far = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true });
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    let answering: Cut | undefined;
    const sever = (cut: Cut): void => {
      near.resetAndDestroy();
      far.destroy();
      cut.done();
    };
    const isLost = (): boolean => {
      this.pieces += 1;
      if (this.pieces !== this.breakAt) return false;
      near.resetAndDestroy();
      far.destroy();
      return true;
    };
    near.on('data', (sent: Buffer) => {
      if (isLost()) return;
      const cut = this.#cut;
      if (cut !== undefined && sent.includes(cut.text)) {
        if (cut.when === 'before-arrival') {
          this.#cut = undefined;
          sever(cut);
          return;
        }
        answering = cut;
      } else answering = undefined;
      far.write(sent);
    });
    far.on('data', (answer: Buffer) => {
      if (isLost()) return;
      if (answering === undefined || !answer.includes(answering.answer)) near.write(answer);
      else if (this.#cut === answering) {
        // The server answers after the commit.
        this.#cut = undefined;
        sever(answering);
      }
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('end', () => other.end());
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        if (this.#pairs.delete(pair)) other.destroy();
      });
      if (this.#isStopped) one.pause();
    }
  }
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A raw connection, for requests that no HTTP client would send. */
export class Wire {
  readonly socket: Socket;
  /** All bytes received so far. */
  received = '';
  /** The error that broke the connection, if any. */
  error: Error | undefined;
  /** Whether the other side has ended it cleanly. */
  hasEnded = false;

  constructor(port: number) {
    this.socket = connect({ port, allowHalfOpen: true });
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.socket.on('error', (error) => (this.error = error));
    this.socket.on('end', () => (this.hasEnded = true));
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** Waits until this text has arrived this many times. */
  async until(text: string, times = 1): Promise<void> {
    while (this.received.split(text).length <= times) {
      if (this.hasEnded || this.socket.closed) throw new Error(`Ended without ${text}: ${this.received}`);
      await this.#change();
    }
  }

  /** Waits until the connection has ended, cleanly or not. */
  async whenOver(): Promise<void> {
    while (!this.hasEnded && !this.socket.closed) await this.#change();
  }

  async #change(): Promise<void> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const ignoringErrors = ['data', 'end', 'close'].map((name) => once(this.socket, name, { signal }));
    await Promise.race(ignoringErrors.map((event) => event.catch(() => undefined)));
    waiting.abort();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The head of a POST. */
export function head(...fields: string[]): string {
  return ['POST / HTTP/1.1', 'Host: x', ...fields, '', ''].join('\r\n');
}

/** A complete POST. */
export function post(body: string, ...fields: string[]): string {
  return head(`Content-Length: ${String(body.length)}`, ...fields) + body;
}

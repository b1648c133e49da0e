import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface ReceiverSettings {
  readonly concurrency: number;
  readonly attempts: number;
  readonly maxHandlingMs: number;
}

/** What a process gets. */
export interface LifeSettings extends ReceiverSettings {
  readonly role: 'both' | 'receiver' | 'worker';
  /** A file of SQLite, or a server of PostgreSQL. */
  readonly store: { readonly path: string } | { readonly connectionString: string };
  /** The file to which handlers append. */
  readonly log: string;
  /** A number that no other process of the test has. */
  readonly life: number;
}

/** One life of a process that receives, works or both. */
export class Receiver {
  readonly life: number;
  readonly died: Promise<unknown>;
  isKilled = false;
  readonly #process: ChildProcess;
  #port = 0;

  constructor(settings: LifeSettings) {
    this.life = settings.life;
    this.#process = fork(join(import.meta.dirname, 'children/receiver.js'), [JSON.stringify(settings)], {
      execArgv: [],
    });
    this.died = once(this.#process, 'exit');
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get port(): number {
    return this.#port;
  }

  /** Resolves to true when it accepts deliveries, or is a worker; to false when it died before. */
  async start(): Promise<boolean> {
    const said = await this.#next();
    if (said === undefined) return false;
    this.#port = (said as { address: AddressInfo | null }).address?.port ?? 0;
    return true;
  }

  /** Resolves to true when no delivery is unfinished, to false when it died before. */
  async drain(): Promise<boolean> {
    if (!this.isAlive) return false;
    // It may die before it gets the message, which then does not matter.
    this.#process.send('drain', () => undefined);
    return (await this.#next()) !== undefined;
  }

  async kill(): Promise<void> {
    this.isKilled = true;
    this.#process.kill('SIGKILL');
    await this.died;
  }

  async #next(): Promise<unknown> {
    const over = new AbortController();
    const message = once(this.#process, 'message', { signal: over.signal }).catch(() => undefined);
    const said = await Promise.race([message, this.died.then(() => undefined)]);
    over.abort();
    return (said as [unknown] | undefined)?.[0];
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Phase, Said } from './trouble-child.ts';

const CHILD = fileURLToPath(new URL('trouble-child.js', import.meta.url));

/** Two workers of one side, a process that stores, and what they say. */
export class Side {
  readonly workers: ChildProcess[] = [];
  readonly acknowledged = new Map<string, number>();
  readonly handled = new Map<string, number>();
  twice = 0;
  refused = 0;
  exits = 0;
  readonly connectionString: string;
  readonly schema: string;
  readonly #name: string;
  readonly #killed = new Set<ChildProcess>();

  constructor(name: string, connectionString: string, schema: string) {
    this.#name = name;
    this.connectionString = connectionString;
    this.schema = schema;
  }

  /** How many acknowledged deliveries are not handled. */
  get waiting(): number {
    let waiting = 0;
    for (const id of this.acknowledged.keys()) if (!this.handled.has(id)) waiting += 1;
    return waiting;
  }

  /** Starts a process. Resolves when it works, or has ended. */
  async start(
    phases?: readonly Phase[],
  ): Promise<{ readonly child: ChildProcess; readonly ended: Promise<void> }> {
    const args = [
      this.#name,
      this.connectionString,
      this.schema,
      phases === undefined ? '' : JSON.stringify(phases),
    ];
    const child = fork(CHILD, args, { env: { ...process.env, NODE_ENV: 'production' } });
    const ended = new Promise<void>((resolve) => {
      child.on('exit', () => {
        if (phases === undefined && !this.#killed.has(child)) this.exits += 1;
        resolve();
      });
      child.on('message', (said: Said) => {
        if ('ended' in said) resolve();
      });
    });
    const ready = new Promise<void>((resolve) => {
      child.on('message', (said: Said) => {
        if ('ready' in said) resolve();
        else this.#note(said);
      });
    });
    await Promise.race([ready, ended]);
    return { child, ended };
  }

  /** Starts a worker in place of the one with this number. */
  async work(at: number): Promise<void> {
    const { child } = await this.start();
    this.workers[at] = child;
  }

  kill(at: number): void {
    const worker = this.workers[at];
    if (worker === undefined) return;
    this.#killed.add(worker);
    worker.kill('SIGKILL');
  }

  async end(producer: ChildProcess): Promise<void> {
    for (const at of this.workers.keys()) this.kill(at);
    const all = [...this.workers, producer].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const exits = all.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of all) child.kill('SIGKILL');
    await Promise.all(exits);
  }

  #note(said: Said): void {
    if ('acknowledged' in said) for (const [id, atMs] of said.acknowledged) this.acknowledged.set(id, atMs);
    if ('refused' in said) this.refused += said.refused;
    if (!('handled' in said)) return;
    const [id, atMs] = said.handled;
    if (this.handled.has(id)) this.twice += 1;
    else this.handled.set(id, atMs);
  }
}

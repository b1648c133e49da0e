import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** One life of a process of the folder `children`. */
export class Life {
  readonly life: number;
  readonly died: Promise<unknown>;
  isKilled = false;
  readonly #process: ChildProcess;

  constructor(program: string, settings: { readonly life: number }) {
    this.life = settings.life;
    this.#process = fork(join(import.meta.dirname, 'children', program), [JSON.stringify(settings)], {
      execArgv: [],
    });
    this.died = once(this.#process, 'exit');
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Whether it died by SIGKILL, and not by an error. */
  get wasKilled(): boolean {
    return this.#process.signalCode === 'SIGKILL';
  }

  async kill(): Promise<void> {
    this.isKilled = true;
    this.#process.kill('SIGKILL');
    await this.died;
  }

  /** Sends a message. The process may die before it gets it. */
  protected ask(message: string): void {
    this.#process.send(message, () => undefined);
  }

  /** Resolves to the next message, or to undefined when it dies before. */
  protected async next(): Promise<unknown> {
    const over = new AbortController();
    const message = once(this.#process, 'message', { signal: over.signal }).catch(() => undefined);
    const said = await Promise.race([message, this.died.then(() => undefined)]);
    over.abort();
    return (said as [unknown] | undefined)?.[0];
  }
}

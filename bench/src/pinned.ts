import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What is measured runs here … */
export const SERVER_CORE = 0;
/** … and what makes the load runs here. */
export const LOAD_CORE = 1;

const canPin: boolean = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** How processes were kept apart, for the report. */
export const pinning: string = canPin
  ? `taskset: what is measured on core ${String(SERVER_CORE)}, the load on core ${String(LOAD_CORE)}`
  : 'none: taskset or a second core is missing';

/** A process on its own core that answers one question at a time. */
export class Pinned {
  readonly #child: ChildProcess;

  /** @param script - relative to the compiled files. */
  constructor(
    script: string,
    args: readonly string[],
    options: {
      core: number;
      nodeFlags?: readonly string[];
      uid?: number | undefined;
      env?: Readonly<Record<string, string>>;
    },
  ) {
    const { core, nodeFlags = [], uid, env = {} } = options;
    const node = [process.execPath, ...nodeFlags, fileURLToPath(new URL(script, import.meta.url)), ...args];
    const [command = process.execPath, ...rest] = canPin ? ['taskset', '-c', String(core), ...node] : node;
    this.#child = spawn(command, rest, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', ...env },
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
  }

  /** 0 if it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async ask<T>(question: unknown): Promise<T> {
    const ended = new AbortController();
    const exit = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error(`A process of the benchmark ended before it answered ${JSON.stringify(question)}.`);
    });
    exit.catch(() => undefined);
    try {
      this.#child.send(question as object);
      const [answer] = (await Promise.race([
        once(this.#child, 'message', { signal: ended.signal }),
        exit,
      ])) as [{ error?: string; value?: T }];
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer.value as T;
    } finally {
      ended.abort();
    }
  }

  /** Stops the whole process for `stoppedMs` of every `everyMs`, for `forMs` in all. */
  async stutter(stoppedMs: number, everyMs: number, forMs: number): Promise<void> {
    for (let atMs = 0; atMs < forMs; atMs += everyMs) {
      await wait(everyMs - stoppedMs);
      this.#child.kill('SIGSTOP');
      await wait(stoppedMs);
      this.#child.kill('SIGCONT');
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }
}

/** The other end: answers the questions of the parent process, and ends with it. */
export function answer(handle: (question: never) => unknown): void {
  process.on('message', (question: unknown) => {
    Promise.resolve()
      .then(() => handle(question as never))
      .then(
        (value) => process.send?.({ value }),
        (error: unknown) =>
          process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.on('disconnect', () => {
    process.exit();
  });
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runtimes } from '../runtimes/tools.js';
import { folderOf, programOf, type Host } from './tools.js';

/** What serves a built app in production, by kind. */
const COMMANDS: Record<string, (folder: string) => string[]> = {
  next: (folder) => [programOf(folder, 'next'), 'start'],
  sveltekit: () => ['build/index.js'],
  astro: () => ['dist/server/entry.mjs'],
  nitro2: () => ['.output/server/index.mjs'],
  nitro3: () => ['.output/server/index.mjs'],
};

/** A process that serves the app of a host. */
export class Program {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(host: Host): Promise<Program> {
    const folder = folderOf(host);
    const args = COMMANDS[host.kind]?.(folder) ?? ['server.js'];
    const onBun = host.kind === 'elysia-bun' ? runtimes.find(({ name }) => name === 'Bun') : undefined;
    const preload = ['--import', join(import.meta.dirname, 'announce.js')];
    const child = spawn(onBun?.command ?? process.execPath, [...(onBun ? [] : preload), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    });
    for await (const line of createInterface(child.stdout)) {
      if (!line.startsWith('{"port":')) continue;
      // Otherwise a full pipe would block the process.
      child.stdout.resume();
      return new Program(child, (JSON.parse(line) as { port: number }).port);
    }
    throw new Error(`${host.name} has not started.`);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilLogged } from '../../demo/src/child-ready.ts';
import { findRedis, type RedisProgram } from './programs.ts';

const READY = 'Ready to accept connections';

/** A Redis server for tests, with its files in a temporary folder. */
export class RedisServer {
  readonly port: number;
  readonly #program: RedisProgram;
  readonly #args: readonly string[];
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'wbp-redis-'));
  #child: ChildProcess | undefined;
  readonly #remove = (): void => {
    this.#child?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  };

  private constructor(program: RedisProgram, port: number, args: readonly string[]) {
    this.#program = program;
    this.port = port;
    this.#args = args;
    process.once('exit', this.#remove);
  }

  /**
   * Starts one.
   *
   * @param args - settings such as `--appendonly`, `yes`. By default nothing is written to the disk.
   * @throws Error when none can be started.
   */
  static async start(...args: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await findRedis(), await freePort(), args);
    try {
      await server.restart();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  /** Ends it with a signal that it cannot handle, as a crash. Resolves when it has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Stops its execution: connections stay open, and nothing is answered until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Starts it again on the same port with the same files. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    await this.kill();
    const { path, env } = this.#program;
    const network = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder];
    const child = spawn(path, [...network, '--save', '', '--daemonize', 'no', ...this.#args], {
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    await untilLogged(child, READY);
  }

  /** Ends it, and deletes its files. */
  async stop(): Promise<void> {
    await this.kill();
    this.#remove();
    process.off('exit', this.#remove);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

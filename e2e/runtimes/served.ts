import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { folder, type Runtime } from './tools.js';

/** The app, as a runtime serves it. */
export class Served {
  readonly #child: ChildProcess;
  /** Where Hono is. */
  readonly port: number;
  /** Where node:http is, if the runtime has it. */
  readonly nodePort: number | undefined;

  private constructor(child: ChildProcess, ports: { port: number; nodePort?: number }) {
    this.#child = child;
    this.port = ports.port;
    this.nodePort = ports.nodePort;
  }

  static async start({ command, args, entry }: Runtime): Promise<Served> {
    const child = spawn(command, [...args, join(import.meta.dirname, entry)], {
      // Where the tools are, for those entries that need them.
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new Served(child, JSON.parse(line) as { port: number; nodePort?: number });
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { run } from '../../test/examples/run.ts';
import { SCOPE } from './scope.ts';
import { folder as tools } from './tools.ts';

/** The releases of Node.js that are supported, each with the npm that it contains. */
export const NODE_AND_NPM = [
  { node: 20, npm: 10 },
  { node: 22, npm: 10 },
  { node: 24, npm: 11 },
  { node: 26, npm: 11 },
] as const;

/** A program that runs in a project. */
export interface Running {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  readonly printed: () => string;
  /** All that it has printed, once it has ended. */
  readonly output: Promise<string>;
}

/** Those that have not ended. */
const children = new Set<ChildProcess>();

/** An empty project, as users begin one, on one release of Node.js. */
export class Project {
  readonly folder: string;
  /** The program of Node.js. */
  readonly node: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, node: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.node = node;
    this.#env = env;
  }

  /**
   * @param parent where its folder is made
   * @param registry from where our packages come; all others come from the registry that npm is configured with
   */
  static async create(
    parent: string,
    registry: string,
    { node, npm }: (typeof NODE_AND_NPM)[number],
  ): Promise<Project> {
    const folder = await mkdtemp(join(parent, `node-${String(node)}-`));
    const bin = join(folder, 'bin');
    const home = join(folder, 'project');
    for (const made of [bin, home]) await mkdir(made);
    const printed = await run('npx', ['--yes', `node@${String(node)}`, '-p', 'process.execPath'], tools);
    const program = printed.trim();
    await symlink(program, join(bin, 'node'));
    for (const name of ['npm', 'npx']) {
      const cli = join(tools, `node_modules/npm${String(npm)}/bin/${name}-cli.js`);
      await writeFile(join(bin, name), `#!/bin/sh\nexec node '${cli}' "$@"\n`, { mode: 0o755 });
    }
    const project = new Project(home, program, {
      ...process.env,
      PATH: bin + delimiter + (process.env['PATH'] ?? ''),
      // npx installs without a question: there is no terminal to answer it.
      npm_config_yes: 'true',
    });
    await project.sh('npm init -y');
    await writeFile(join(home, '.npmrc'), `${SCOPE}:registry=${registry}\n`);
    return project;
  }

  /** Runs commands of a page as they are written there, and gives what they printed. */
  sh(commands: string): Promise<string> {
    return run('sh', ['-ec', commands], this.folder, this.#env);
  }

  write(file: string, content: string): Promise<void> {
    return writeFile(join(this.folder, file), content);
  }

  /** Starts a program of the project. */
  start(
    file: string,
    variables: Readonly<Record<string, string>> = {},
    args: readonly string[] = [],
  ): Running {
    const started = spawn(this.node, [file, ...args], {
      cwd: this.folder,
      env: { ...this.#env, ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(started);
    started.once('exit', () => children.delete(started));
    let printed = '';
    started.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    return { process: started, printed: () => printed, output: text(started.stdout) };
  }
}

/** Kills the programs that are left, such as those of a test that has failed. */
export function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Ends a program, and gives what it printed. */
export async function end({ process: started, output }: Running): Promise<string> {
  const ended = once(started, 'exit');
  started.kill('SIGTERM');
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  if (code !== 0 && signal !== 'SIGTERM')
    throw new Error(`The program ended with ${String(code ?? signal)}.`);
  return output;
}

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../demo/src/free-port.ts';
import { handOver, unprivileged } from '../../demo/src/postgres-programs.ts';
import { unpackedPackage } from '../debian/unpacked-package.ts';

const execute = promisify(execFile);

const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];
const ADVICE = 'Install PgBouncer, or set PGBOUNCER to its path.';
const READY = 'process up';

/** How to start PgBouncer. */
export interface PgBouncerProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds PgBouncer: the program that the variable `PGBOUNCER` names, else one in `PATH` or where packages put it, else the
 * package of Debian or Ubuntu, which it downloads and unpacks.
 *
 * @throws Error if there is none, with the reason.
 */
export async function findPgBouncer(): Promise<PgBouncerProgram> {
  const { PGBOUNCER: named = '', PATH = '' } = process.env;
  if (named === 'none') throw new Error('PGBOUNCER=none was set.');
  const paths = [...PATH.split(delimiter), ...FOLDERS].map((folder) => join(folder, 'pgbouncer'));
  const path = named === '' ? paths.find((one) => existsSync(one)) : named;
  if (path !== undefined) return { path, env: process.env };
  const { folder, env } = await unpackedPackage('pgbouncer', ADVICE);
  const unpacked = join(folder, 'usr/sbin/pgbouncer');
  await execute(unpacked, ['--version'], { env: { ...env } });
  return { path: unpacked, env };
}

/** A running PgBouncer with two connections to the server, with its files in a temporary folder. */
export class PgBouncer {
  readonly connectionString: string;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(connectionString: string, folder: string, child: ChildProcess) {
    this.connectionString = connectionString;
    this.#folder = folder;
    this.#child = child;
  }

  /** @param server - the address of the server behind it. */
  static async start(
    { path, env }: PgBouncerProgram,
    mode: 'transaction' | 'session',
    server: string,
  ): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'wbp-pgbouncer-'));
    const { port: serverPort, username } = new URL(server);
    const port = String(await freePort());
    const [file, users] = [join(folder, 'settings'), join(folder, 'users')];
    writeFileSync(users, `"${username}" ""\n`);
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${mode === 'transaction' ? '2' : '20'}
`,
    );
    for (const one of [folder, file, users]) handOver(one);
    const child = spawn(path, [file], {
      ...unprivileged,
      env: { ...env },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const url = new URL(server);
    url.port = port;
    const bouncer = new PgBouncer(url.href, folder, child);
    try {
      await ready(child);
    } catch (error) {
      await bouncer.stop();
      throw error;
    }
    return bouncer;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function ready(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes(READY)) resolve();
    });
    child.once('error', reject).once('exit', () => {
      reject(new Error(`PgBouncer did not start:\n${log}`));
    });
  });
}

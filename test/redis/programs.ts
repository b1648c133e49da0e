import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Deleted by `npm ci`, as all that is in node_modules. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/redis-server', import.meta.url));
const NAMES = ['redis-server', 'valkey-server'];
/** The packages have 2 MB, the lists of packages 10 MB. */
const DOWNLOAD_LIMIT_MS = 120_000;
const UNPACK_LIMIT_MS = 60_000;
const START_LIMIT_MS = 10_000;

/** How to start a Redis server. */
export interface RedisProgram {
  readonly path: string;
  /** Variables that it needs, such as the folder of its libraries. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds `redis-server`: the program that the variable `REDIS_SERVER` names, else one in `PATH`, else the package of
 * Debian or Ubuntu, which it downloads and unpacks into node_modules without installing it. That needs no root.
 *
 * @throws Error if there is none, with the reason.
 */
export async function findRedis(): Promise<RedisProgram> {
  const { REDIS_SERVER, PATH = '' } = process.env;
  if (REDIS_SERVER === 'none') throw new Error('REDIS_SERVER=none was set.');
  const named = REDIS_SERVER === undefined || REDIS_SERVER === '' ? [] : [REDIS_SERVER];
  const folders = PATH.split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).filter((path) =>
    existsSync(path),
  );
  for (const path of named.length > 0 ? named : paths) {
    const program = { path, env: process.env };
    if (await starts(program)) return program;
    if (named.length > 0) throw new Error(`REDIS_SERVER names ${path}, which does not start.`);
  }
  if (!existsSync(CACHE)) await unpackPackage();
  const program = unpacked();
  if (await starts(program)) return program;
  rmSync(CACHE, { recursive: true, force: true });
  throw new Error(`The program of the package redis-server does not start. ${ADVICE}`);
}

const ADVICE = 'Install Redis, or set REDIS_SERVER to the path of redis-server.';

async function starts({ path, env }: RedisProgram): Promise<boolean> {
  try {
    await execute(path, ['--version'], { env: { ...env }, timeout: START_LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}

function unpacked(): RedisProgram {
  const parents = ['usr/lib', 'lib'].map((folder) => join(CACHE, folder)).filter((path) => existsSync(path));
  const libraries = parents.flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.includes('-linux-'))
      .map((name) => join(parent, name)),
  );
  return {
    path: join(CACHE, 'usr/bin/redis-server'),
    env: { ...process.env, LD_LIBRARY_PATH: libraries.join(':') },
  };
}

/** With its own package lists, so that it neither needs those of the machine nor changes them. */
async function unpackPackage(): Promise<void> {
  process.stderr.write('\nThe Redis tests need redis-server. Downloading the package of Debian or Ubuntu.\n');
  mkdirSync(dirname(CACHE), { recursive: true });
  const folder = mkdtempSync(`${CACHE}-`);
  const [archives, root] = [join(folder, 'cache/archives'), join(folder, 'root')];
  for (const path of [join(folder, 'lists/partial'), join(archives, 'partial'), root])
    mkdirSync(path, { recursive: true });
  const settings = [
    `Dir::State::Lists=${join(folder, 'lists')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    // It changes nothing that the locks protect.
    'Debug::NoLocking=1',
    // The user for downloads may not write into this folder.
    'APT::Sandbox::User=root',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=20',
  ].flatMap((setting) => ['-o', setting]);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (program: string, args: readonly string[], timeout: number): Promise<unknown> =>
    execute(program, [...args], { env, timeout, maxBuffer: 2 ** 26 });
  try {
    await run('apt-get', [...settings, 'update'], DOWNLOAD_LIMIT_MS);
    const install = ['install', '--yes', '--no-install-recommends', '--download-only', 'redis-server'];
    await run('apt-get', [...settings, ...install], DOWNLOAD_LIMIT_MS);
    for (const name of readdirSync(archives))
      if (name.endsWith('.deb')) await run('dpkg-deb', ['-x', join(archives, name), root], UNPACK_LIMIT_MS);
    // Of several processes that unpack at the same time, one succeeds.
    if (!existsSync(CACHE)) renameSync(root, CACHE);
  } catch (error) {
    if (!existsSync(CACHE))
      throw new Error(`No redis-server was found: ${briefly(error)} ${ADVICE}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last line of what a command printed: apt explains its failure there. */
function briefly(error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string };
  return (stderr.trim() || message).split('\n').at(-1) ?? '';
}

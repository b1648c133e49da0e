import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The packages have some MB, the lists of packages 10 MB. */
const DOWNLOAD_LIMIT_MS = 120_000;
const UNPACK_LIMIT_MS = 60_000;

/** A package of Debian or Ubuntu, with what it needs, unpacked without being installed. */
export interface UnpackedPackage {
  /** The folder that has its files: `usr/bin` is in it. */
  readonly folder: string;
  /** Variables with which its programs find their libraries. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The folder of a package, which may be missing. `npm ci` deletes it, as all that is in node_modules. */
function folderOf(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.cache/${name}`, import.meta.url));
}

/**
 * Downloads a package and unpacks it into node_modules, unless it is there. Needs no root, starts no service, and neither
 * needs the package lists of the machine nor changes them.
 *
 * @param advice - the end of the error's message: what users can do.
 * @throws Error if that is not possible, with the reason.
 */
export async function unpackedPackage(name: string, advice: string): Promise<UnpackedPackage> {
  const folder = folderOf(name);
  if (!existsSync(folder)) await unpack(name, folder, advice);
  const parents = ['usr/lib', 'lib'].map((part) => join(folder, part)).filter((path) => existsSync(path));
  const libraries = parents.flatMap((parent) =>
    readdirSync(parent)
      .filter((entry) => entry.includes('-linux-'))
      .map((entry) => join(parent, entry)),
  );
  return { folder, env: { ...process.env, LD_LIBRARY_PATH: libraries.join(':') } };
}

async function unpack(name: string, cache: string, advice: string): Promise<void> {
  process.stderr.write(`\nThe tests need ${name}. Downloading the package of Debian or Ubuntu.\n`);
  mkdirSync(dirname(cache), { recursive: true });
  const folder = mkdtempSync(`${cache}-`);
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
    const install = ['install', '--yes', '--no-install-recommends', '--reinstall', '--download-only', name];
    await run('apt-get', [...settings, ...install], DOWNLOAD_LIMIT_MS);
    for (const file of readdirSync(archives))
      if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(archives, file), root], UNPACK_LIMIT_MS);
    // Of several processes that unpack at the same time, one succeeds.
    if (!existsSync(cache)) renameSync(root, cache);
  } catch (error) {
    if (!existsSync(cache))
      throw new Error(`No ${name} was found: ${briefly(error)} ${advice}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last line of what a command printed: apt explains its failure there. */
function briefly(error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string };
  return (stderr.trim() || message).split('\n').at(-1) ?? '';
}

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Names of the program by platform and package. All of them understand the options that Playwright passes. */
const NAMES = [
  ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge'],
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const VERSION_LIMIT_MS = 30_000;
/** The package and its dependencies have about 100 MB. */
const DOWNLOAD_LIMIT_MS = 300_000;
/** Without a download: only a broken package manager takes this long. */
const INSTALL_LIMIT_MS = 600_000;

/** What decides where Chromium comes from. */
export interface Machine {
  /** `CHROMIUM` is the path of a program, or `none`; `PATH` is searched. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  /** Says to the user what takes so long. */
  readonly say: (line: string) => void;
  /** Only Debian has a package: Ubuntu's of the same name installs a snap, which doesn't run in containers. */
  readonly isDebian: boolean;
}

/** The program, or the reason why there is none. */
export type Chromium =
  { readonly path: string; readonly missing?: never } | { readonly path?: never; readonly missing: string };

/** The machine that runs this. */
export function thisMachine(): Machine {
  return {
    variables: process.env,
    isRoot: process.getuid?.() === 0,
    isDebian: isDebian(),
    say: (line) => process.stderr.write(`\n${line}\n`),
  };
}

/**
 * Finds Chromium or a browser made from it. Where there is none, root on Debian installs the package `chromium`.
 *
 * @throws if `CHROMIUM` names a program that doesn't start.
 */
export async function findChromium(machine: Machine): Promise<Chromium> {
  const { variables, isRoot } = machine;
  const { CHROMIUM } = variables;
  if (CHROMIUM === 'none') return { missing: 'CHROMIUM=none was set' };
  if (CHROMIUM !== undefined && CHROMIUM !== '') {
    if (await starts(CHROMIUM, variables)) return { path: CHROMIUM };
    throw new Error(`CHROMIUM names ${CHROMIUM}, which does not start.`);
  }
  const installed = await firstThatStarts(variables);
  if (installed !== undefined) return { path: installed };
  const advice = 'install Chromium or Chrome, or set CHROMIUM to the path of one';
  if (!machine.isDebian) return { missing: `no Chromium was found; ${advice}` };
  if (!isRoot)
    return { missing: `no Chromium was found, and only root can install Debian's package; ${advice}` };
  try {
    machine.say(
      'The browser tests need Chromium. Installing the Debian package chromium takes some minutes.',
    );
    await installPackage(variables);
  } catch (error) {
    return { missing: `no Chromium was found, and installing it failed: ${briefly(error)}; ${advice}` };
  }
  const added = await firstThatStarts(variables);
  return added === undefined
    ? { missing: `Debian's package chromium was installed, but does not start; ${advice}` }
    : { path: added };
}

async function firstThatStarts(variables: Machine['variables']): Promise<string | undefined> {
  const folders = (variables['PATH'] ?? '').split(delimiter);
  const paths = NAMES.flatMap((name) =>
    isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name)),
  );
  for (const path of paths) if (existsSync(path) && (await starts(path, variables))) return path;
  return undefined;
}

/** Asks for the version: the placeholder for a snap exists, too, and fails. */
async function starts(path: string, variables: Machine['variables']): Promise<boolean> {
  try {
    await execute(path, ['--version'], { env: { ...variables }, timeout: VERSION_LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}

async function installPackage(variables: Machine['variables']): Promise<void> {
  const env = { ...variables, DEBIAN_FRONTEND: 'noninteractive' };
  const options = [
    '-o',
    'Acquire::Retries=2',
    '-o',
    'Acquire::http::Timeout=20',
    '-o',
    'DPkg::Lock::Timeout=120',
  ];
  const install = [...options, 'install', '--yes', '--no-install-recommends'];
  const apt = (args: readonly string[], timeout: number): Promise<unknown> =>
    execute('apt-get', [...args], { env, timeout, maxBuffer: 2 ** 26 });
  await apt([...options, 'update'], DOWNLOAD_LIMIT_MS);
  // A download can be ended at any time, the installation of packages cannot.
  await apt([...install, '--download-only', 'chromium'], DOWNLOAD_LIMIT_MS);
  await apt([...install, 'chromium'], INSTALL_LIMIT_MS);
}

function isDebian(): boolean {
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

/** The last line of what a command printed: apt explains its failure there. */
function briefly(error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string };
  return (stderr.trim() || message).split('\n').at(-1) ?? '';
}

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findChromium, type Machine } from './chromium.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'programs-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A program on the only folder of PATH. */
function program(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

function machine(rest: Partial<Machine> & { CHROMIUM?: string } = {}): Machine {
  const { CHROMIUM, ...others } = rest;
  return {
    variables: { PATH: folder, ...(CHROMIUM === undefined ? {} : { CHROMIUM }) },
    isRoot: true,
    isDebian: true,
    say: () => undefined,
    ...others,
  };
}

/** Notes its arguments, then runs the last lines. */
function packageManager(...last: string[]): () => string[] {
  const log = join(folder, 'apt.log');
  program('apt-get', `echo "$@" >> ${log}`, ...last);
  return () => readFileSync(log, 'utf8').trim().split('\n');
}

it.runIf(process.platform === 'linux')('takes the first browser that starts', async () => {
  program('chromium', 'exit 1');
  program('google-chrome', 'exit 0');
  expect(await findChromium(machine())).toEqual({ path: join(folder, 'google-chrome') });
});

it('prefers the program in CHROMIUM, and throws if that does not start', async () => {
  program('chromium', 'exit 0');
  const own = program('own', 'exit 0');
  expect(await findChromium(machine({ CHROMIUM: own }))).toEqual({ path: own });
  program('own', 'exit 1');
  await expect(findChromium(machine({ CHROMIUM: own }))).rejects.toThrow(`${own}, which does not start`);
});

it('finds nothing and installs nothing with CHROMIUM=none', async () => {
  program('chromium', 'exit 0');
  expect(await findChromium(machine({ CHROMIUM: 'none' }))).toEqual({ missing: 'CHROMIUM=none was set' });
});

it.runIf(process.platform === 'linux')(
  'installs the package as root on Debian, without recommended ones',
  async () => {
    const chromium = join(folder, 'chromium');
    const calls = packageManager(
      'case "$*" in *download-only*|*update*) exit 0 ;; esac',
      `printf '#!/bin/sh\\n' > ${chromium}`,
      `/bin/chmod 755 ${chromium}`,
    );
    expect(await findChromium(machine())).toEqual({ path: chromium });
    expect(calls()).toEqual([
      expect.stringMatching(/ update$/),
      expect.stringMatching(/--no-install-recommends --download-only chromium$/),
      expect.stringMatching(/--no-install-recommends chromium$/),
    ]);
  },
);

it.runIf(process.platform === 'linux').each([
  ['the user is not root', { isRoot: false }, /only root can install/],
  ['the system is not Debian', { isDebian: false }, /^no Chromium was found; install Chromium/],
])('installs nothing if %s', async (_, rest, reason) => {
  packageManager('exit 1');
  expect((await findChromium(machine(rest))).missing).toMatch(reason);
  expect(() => readFileSync(join(folder, 'apt.log'))).toThrow('ENOENT');
});

it.runIf(process.platform === 'linux')(
  'gives the last line of the package manager if that fails',
  async () => {
    packageManager('echo "reading" >&2', 'echo "E: Unable to fetch some archives" >&2', 'exit 100');
    expect((await findChromium(machine())).missing).toContain('failed: E: Unable to fetch some archives;');
  },
);

it.runIf(process.platform === 'linux')('says so if the installed package does not start', async () => {
  packageManager('exit 0');
  expect((await findChromium(machine())).missing).toContain('was installed, but does not start');
});

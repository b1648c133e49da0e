import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

const TOOLS = join(import.meta.dirname, 'tools');

/**
 * Installs Jest and pnpm, once for each version of their lockfile: only consumers use them, so that `npm ci` does not
 * install them.
 *
 * @returns the paths of their programs
 */
export async function installTools(): Promise<{ readonly jest: string; readonly pnpm: string }> {
  const lock = await readFile(join(TOOLS, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `webhook-backpressure-consumer-tools-${hash}`);
  const installed = join(folder, 'installed');
  if (!existsSync(installed)) {
    await mkdir(folder, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) await cp(join(TOOLS, file), join(folder, file));
    await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    await writeFile(installed, '');
  }
  const modules = join(folder, 'node_modules');
  return { jest: join(modules, 'jest/bin/jest.js'), pnpm: join(modules, 'pnpm/bin/pnpm.cjs') };
}

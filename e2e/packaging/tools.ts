import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../test/examples/run.ts';

const TOOLS = join(import.meta.dirname, 'tools');
const LOCK = readFileSync(join(TOOLS, 'package-lock.json'));
const VERSION = createHash('sha256').update(LOCK).digest('hex').slice(0, 16);
/** Outside the checkout, and kept for the next run. */
const FOLDER = join(tmpdir(), `webhook-backpressure-packaging-tools-${VERSION}`);
const MODULES = join(FOLDER, 'node_modules');

/** The programs that only these checks use. They have their own lockfile, so that `npm ci` does not install them. */
export const tools = {
  attw: join(MODULES, '@arethetypeswrong/core/dist/index.js'),
  jest: join(MODULES, 'jest/bin/jest.js'),
  pnpm: join(MODULES, 'pnpm/bin/pnpm.cjs'),
  publint: join(MODULES, 'publint/src/index-node.js'),
} as const;

/** Installs the tools before the test files start, which run in parallel. */
export async function setup(): Promise<void> {
  const installed = join(FOLDER, 'installed');
  if (existsSync(installed)) return;
  await mkdir(FOLDER, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) await cp(join(TOOLS, file), join(FOLDER, file));
  await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], FOLDER);
  await writeFile(installed, '');
}

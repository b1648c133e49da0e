import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../test/examples/run.ts';

/** Large, and used by nothing else: so they are not among the dependencies that every checkout installs. */
const PACKAGES = {
  // The newest that runs on Node 20.
  verdaccio: '6.7.4',
  // As Node 20 and 22 contain it, and as Node 24 and 26 do.
  npm10: 'npm:npm@10.9.9',
  npm11: 'npm:npm@11.21.2',
};

/** Instead of the tag `cjs`, which a mirror of the registry may not have. */
const OVERRIDES = { 'node-fetch': '2.7.0' };

/** Outside the checkout, and kept for the next run. */
export const folder: string = join(
  tmpdir(),
  `webhook-backpressure-release-${Object.values(PACKAGES)
    .join('-')
    .replaceAll(/[^\w.-]/g, '-')}`,
);

/** Installs the tools that are not there yet. */
export async function installTools(): Promise<void> {
  const installed = join(folder, 'installed');
  if (existsSync(installed)) return;
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: PACKAGES, overrides: OVERRIDES }),
  );
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
  await writeFile(installed, '');
}

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../tooling/packages.js';
import { compileTo } from './compile.ts';

const OLDER = ['10.0.0', '11.1.0'];
const PACKAGES = ['common', 'core', 'platform-express', 'platform-fastify', 'testing'];

/** The version of Nest that the repository installs, and with `npm run test:nest` also the older ones. */
export const versions: readonly string[] = process.env['NEST'] === 'all' ? ['12', ...OLDER] : ['12'];

/** The compiled example in a new folder, from which this version of Nest is loaded. */
export function exampleWith(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'nest-example-'));
  const isOlder = OLDER.includes(version);
  const modules = join(folder, 'node_modules');
  if (isOlder) {
    mkdirSync(modules);
    // Every checkout links its own packages: the older versions are installed once for all of them.
    link(join(root, 'node_modules'), modules, ['@webhook-backpressure']);
    link(join(installed(version), 'node_modules'), modules, ['@nestjs', 'reflect-metadata', 'rxjs']);
  } else symlinkSync(join(root, 'node_modules'), modules);
  compileTo(folder, isOlder ? 'commonjs' : 'esm');
  return folder;
}

/** The folder of an older version: 40 MB, so it is installed when it is needed first. */
function installed(version: string): string {
  const folder = join(tmpdir(), `webhook-backpressure-nest-${version}`);
  if (existsSync(join(folder, 'installed'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const nest = Object.fromEntries(PACKAGES.map((name) => [`@nestjs/${name}`, version]));
  const dependencies = { ...nest, 'reflect-metadata': '0.1.14', rxjs: '7.8.1' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: 'inherit',
  });
  writeFileSync(join(folder, 'installed'), '');
  return folder;
}

function link(from: string, to: string, names: readonly string[]): void {
  for (const name of names) symlinkSync(join(from, name), join(to, name));
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { publishedPackages, root } from '../../tooling/packages.js';
import { packAll, type Packed } from '../packaging/packed.ts';
import { run } from '../../test/examples/run.ts';
import { publish } from './publish.ts';
import { Registry } from './registry.ts';
import { installTools } from './tools.ts';

/** What the rehearsal of a release has made. */
export interface Rehearsal {
  /** The copy of the repository that was released, with all commits of this one and no uncommitted change. */
  readonly repository: string;
  /** The version of all packages before, and the one that was released. */
  readonly versions: { readonly before: string; readonly released: string };
  readonly packages: readonly Packed[];
  /** Where the registry is. */
  readonly registry: string;
  /** What `npm run release:publish` printed, the first and the second time. */
  readonly outputs: readonly [first: string, second: string];
  /** A folder for more, which is deleted at the end. */
  readonly folder: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    readonly rehearsal: Rehearsal;
  }
}

/** Releases a copy of this repository to a registry on this machine, as the release workflow would. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // `npm run --silent` would also hide the errors of the commands below.
  process.env['npm_config_loglevel'] = 'error';
  await installTools();
  const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-rehearsal-'));
  const storage = join(folder, 'registry');
  await mkdir(storage);
  const registry = await Registry.start(storage);
  const end = async (): Promise<void> => {
    registry.stop();
    await rm(folder, { recursive: true });
  };
  try {
    project.provide('rehearsal', await release(folder, registry.url));
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function release(folder: string, registry: string): Promise<Rehearsal> {
  const repository = join(folder, 'repository');
  const git = (...args: string[]): Promise<string> => run('git', args, repository);
  const npm = (...args: string[]): Promise<string> => run('npm', args, repository);

  await run('git', ['clone', '--quiet', '--no-tags', root, repository], folder);
  await git('config', 'user.name', 'rehearsal');
  await git('config', 'user.email', 'rehearsal@localhost');
  await npm('ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
  const before = versionOf(repository);
  await npm('run', '--silent', 'release:version');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'release: version packages');
  await npm('run', '--silent', 'build');

  const tarballs = join(folder, 'tarballs');
  await mkdir(tarballs);
  const packages = await packAll(tarballs, repository);
  const target = { repository, registry, folder };
  const first = await publish('npm', ['run', 'release:publish'], target);
  const second = await publish('npm', ['run', 'release:publish'], target);
  return {
    repository,
    versions: { before, released: versionOf(repository) },
    packages,
    registry,
    outputs: [first, second],
    folder,
  };
}

function versionOf(repository: string): string {
  const [first] = publishedPackages(repository);
  if (first === undefined) throw new Error('No package is published.');
  return first.manifest.version;
}

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { entriesOf, neededBy, publishedPackages, root } from '../../tooling/packages.js';
import { run } from '../../test/examples/run.ts';

/** A package as it would be published. */
export interface Packed {
  readonly name: string;
  readonly folder: string;
  readonly tarball: string;
  /** The hash of the tarball, as registries name it. */
  readonly integrity: string;
  /** The paths in the tarball. */
  readonly files: readonly string[];
  /** The names of its entries' files, without extensions. */
  readonly entries: readonly string[];
  /** What users can import. */
  readonly specifiers: readonly string[];
  /** The names of the packages of ours that it needs, also indirectly, and its own. */
  readonly needs: readonly string[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The published packages. */
    readonly packed: readonly Packed[];
    /** Whether older versions of the frameworks are looked at. */
    readonly isLong: boolean;
  }
}

/** Packs once for all test files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-packed-'));
  project.provide('packed', await packAll(folder));
  return () => rm(folder, { recursive: true });
}

/** Packs every published package of `repository`, this one or a copy, into `destination`. */
export async function packAll(destination: string, repository: string = root): Promise<Packed[]> {
  const packages = publishedPackages(repository);
  const output = await run(
    'npm',
    [
      'pack',
      '--json',
      '--ignore-scripts',
      '--pack-destination',
      destination,
      ...packages.flatMap(({ manifest }) => ['--workspace', manifest.name]),
    ],
    repository,
  );
  const packed = JSON.parse(output) as {
    name: string;
    filename: string;
    integrity: string;
    files: { path: string }[];
  }[];
  return packages.map((published) => {
    const { name } = published.manifest;
    const found = packed.find((one) => one.name === name);
    if (found === undefined) throw new Error(`npm pack said nothing about ${name}.`);
    return {
      name,
      folder: published.folder,
      tarball: join(destination, found.filename),
      integrity: found.integrity,
      files: found.files.map(({ path }) => path),
      entries: entriesOf(published).map((entry) => entry.name),
      specifiers: entriesOf(published).map(({ subpath }) => name + subpath.slice(1)),
      needs: neededBy(published.folder).map(({ manifest }) => manifest.name),
    };
  });
}

/** The version of a package that the tests of this workspace run against. */
export function testedVersion(name: string): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string } | undefined>;
  };
  const version =
    lock.packages[`test/node_modules/${name}`]?.version ?? lock.packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`${name} is not in the lockfile.`);
  return version;
}

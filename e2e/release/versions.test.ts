import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { publishedPackages } from '../../tooling/packages.js';
import { run } from '../../test/examples/run.ts';

const { repository, versions } = inject('rehearsal');
const read = (...path: string[]): Promise<string> => readFile(join(repository, ...path), 'utf8');

it('gives all packages one new version', () => {
  const found = publishedPackages(repository).map(({ manifest }) => manifest.version);
  expect([...new Set(found)]).toEqual([versions.released]);
  expect(versions.released).not.toBe(versions.before);
});

it('leaves no changeset, so that the next run of the workflow publishes', async () => {
  expect((await readdir(join(repository, '.changeset'))).filter((file) => file.endsWith('.md'))).toEqual([]);
});

it('leaves a lockfile that agrees with the manifests and names no registry', async () => {
  await run('npm', ['ci', '--dry-run', '--ignore-scripts', '--prefer-offline'], repository);
  const lock = JSON.parse(await read('package-lock.json')) as {
    packages: Record<string, { version?: string; resolved?: string } | undefined>;
  };
  for (const { folder } of publishedPackages(repository)) {
    expect([folder, lock.packages[`packages/${folder}`]?.version]).toEqual([folder, versions.released]);
  }
  const addresses = Object.values(lock.packages).map((one) => one?.resolved ?? '');
  expect(addresses.filter((address) => address.startsWith('http'))).toEqual([]);
});

it('tells OpenTelemetry the new version', async () => {
  expect(await read('packages/otel/src/version.ts')).toContain(`'${versions.released}'`);
});

describe.each(publishedPackages(repository))('the changelog of packages/$folder', ({ folder }) => {
  it('begins with the new version and says what has changed', async () => {
    const changelog = await read('packages', folder, 'CHANGELOG.md');
    const [, heading, changes = ''] = /^## (\S+)\n((?:(?!^## ).*\n)*)/m.exec(changelog) ?? [];
    expect(heading).toBe(versions.released);
    expect(changes).toMatch(/^- /m);
    expect(changes).not.toMatch(/^- [\da-f]{7,}: |Updated dependencies/m);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publishedPackages, root } from '../../tooling/packages.js';

function manifestIn<T>(path: string): T {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as T;
}

it('gives all published packages the same version, and others none', () => {
  const { fixed } = manifestIn<{ fixed: string[][] }>('.changeset/config.json');
  const { workspaces } = manifestIn<{ workspaces: string[] }>('package.json');
  const others = workspaces
    .filter((path) => path !== 'packages/*')
    .map((path) => manifestIn<{ name: string }>(`${path}/package.json`).name.replace(/^.*\//, ''));
  const scope = '@webhook-backpressure';
  expect(fixed).toEqual([[`${scope}/*`, `!${scope}/{${others.sort().join()}}`]]);
  expect(new Set(publishedPackages().map(({ manifest }) => manifest.version)).size).toBe(1);
});

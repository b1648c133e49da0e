import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publishedPackages, root } from '../../tooling/packages.js';

function jsonIn(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

it('gives all published packages the same version, and others none', () => {
  const { fixed } = jsonIn('.changeset/config.json') as { fixed: string[][] };
  const { workspaces } = jsonIn('package.json') as { workspaces: string[] };
  const others = workspaces
    .filter((path) => path !== 'packages/*')
    .map((path) => (jsonIn(`${path}/package.json`) as { name: string }).name.replace(/^.*\//, ''));
  const scope = '@webhook-backpressure';
  expect(fixed).toEqual([
    [`${scope}/*`, 'create-webhook-backpressure', `!${scope}/{${others.sort().join()}}`],
  ]);
  expect(new Set(publishedPackages().map(({ manifest }) => manifest.version)).size).toBe(1);
});

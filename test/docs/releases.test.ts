import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publishedPackages, root } from '../../tooling/packages.js';

it('gives all published packages the same version', () => {
  const { fixed } = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8')) as {
    fixed: string[][];
  };
  const [, folders = ''] = /\{(.*)\}/.exec(fixed.flat().join()) ?? [];
  expect(folders.split(',').sort()).toEqual(publishedPackages().map(({ folder }) => folder));
  expect(new Set(publishedPackages().map(({ manifest }) => manifest.version)).size).toBe(1);
});

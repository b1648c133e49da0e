import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { packAll } from './packed.ts';
import { run } from './run.ts';

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-tarballs-'));
const packages = await packAll(folder);

function tool(name: string): string {
  return join(root, 'node_modules/.bin', name);
}

afterAll(() => rm(folder, { recursive: true }));

describe.each(packages)('the tarball of $name', ({ files, tarball }) => {
  it('holds the licence, a README, the sources and what was built from them, and nothing else', () => {
    const sources = files.filter((file) => file.startsWith('src/'));
    const built = sources.flatMap((source) => {
      const stem = source.replace(/^src\//, 'dist/').replace(/\.ts$/, '');
      return ['.d.ts', '.d.ts.map', '.js', '.js.map'].map((extension) => stem + extension);
    });
    const expected = ['LICENSE', 'README.md', 'package.json', ...sources, ...built];
    expect([...files].sort()).toEqual(expected.sort());
    expect(sources).toContain('src/index.ts');
    expect(sources.filter((source) => !source.endsWith('.ts') || source.includes('.test.'))).toEqual([]);
  });

  it('passes publint', async () => {
    await run(tool('publint'), ['run', '--strict', tarball], root);
  });

  it('has types that resolve as its code does', async () => {
    const profile = ['--profile', 'esm-only', '--no-definitely-typed', '--format', 'ascii'];
    await run(tool('attw'), [...profile, tarball], root);
  });
});

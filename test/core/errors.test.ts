import { BackpressureError } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import { docsParentOf } from '../../packages/base/src/errors.ts';

const INSTALLED = '@webhook-backpressure/base/dist/';

describe('the folder of the page that help points to', () => {
  it.each([
    ['the installed package', `file:///app/node_modules/${INSTALLED}`, 'index.js'],
    ['the installed package on Windows', `file:///C:/app/node_modules/${INSTALLED}`, 'index.cjs'],
    ["pnpm's store", `file:///app/node_modules/.pnpm/x@1/node_modules/${INSTALLED}`, 'index.js'],
    ['a package that is called core', `file:///app/packages/core/node_modules/${INSTALLED}`, 'index.js'],
    ['a build of such a package', `file:///app/packages/base/dist/node_modules/${INSTALLED}`, 'index.js'],
  ])('is dist, in %s', (_, dist, file) => {
    expect(docsParentOf(`${dist}${file}`)).toBe(dist);
  });

  it('is the repository, for its sources', () => {
    expect(docsParentOf('file:///repository/packages/base/src/errors.ts')).toBe('file:///repository/');
  });

  it.each([
    ['a bundle', 'file:///app/dist/server.js'],
    ["a bundle in the user's own package base", 'file:///app/packages/base/dist/index.js'],
    ['a module without an address', ''],
    ['a worker', 'file:///worker.js'],
  ])('is where npm installs the package, for %s', (_, url) => {
    expect(docsParentOf(url)).toBe(`node_modules/${INSTALLED}`);
  });
});

describe('instanceof BackpressureError', () => {
  /** The class of another copy of the package. */
  class BackpressureErrorCopy extends Error {
    override name = 'BackpressureError';
    code = 'ERR_WBP_CAPACITY';
    help = '';
  }
  class OwnError extends BackpressureError {}

  it('is true for the errors of another copy of the package', () => {
    expect(new BackpressureErrorCopy() instanceof BackpressureError).toBe(true);
  });

  it('is false for other errors and values', () => {
    const others = [new Error('x'), { name: 'BackpressureError', code: 'x', help: '' }, null, undefined];
    for (const other of others) expect(other instanceof BackpressureError).toBe(false);
  });

  it('tells a subclass from its base', () => {
    const base = new BackpressureError('ERR_WBP_CAPACITY', 'x');
    const own = new OwnError('ERR_WBP_CAPACITY', 'x');
    expect([own instanceof BackpressureError, own instanceof OwnError]).toEqual([true, true]);
    expect(base instanceof OwnError).toBe(false);
  });
});

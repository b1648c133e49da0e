import { expect, it } from 'vitest';
import { choose } from '../../packages/sqlite/src/drivers/choose.ts';
import { loadLibsql } from '../../packages/sqlite/src/drivers/libsql.ts';
import { isSound, loadNodeSqlite } from '../../packages/sqlite/src/drivers/node-sqlite.ts';

it.each([
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.53.0', true],
  ['4.0.0', true],
  ['3.51.2', false],
  ['3.50.7', false],
  ['3.9.99', false],
  ['2.99.99', false],
  ['', false],
])('SQLite %s is new enough: %s', (version, expected) => {
  expect(isSound(version)).toBe(expected);
});

it('the runtime is asked first, and libsql where that has none', () => {
  const first = { open: () => Promise.reject(new Error()) as never };
  expect(choose([() => first, loadLibsql])).toBe(first);
  expect(choose([() => undefined, () => first])).toBe(first);
});

it('without any, the error says what there is, what to install, and why it could not be loaded', () => {
  const reason = new Error("Cannot find module 'libsql'");
  const failing = (): never => {
    throw reason;
  };
  expect(() => choose([() => undefined, failing])).toThrow(
    expect.objectContaining({
      code: 'ERR_WBP_SQLITE_DRIVER',
      cause: reason,
      message: expect.stringMatching(/npm install libsql/) as string,
    }) as Error,
  );
});

it('what this runtime has is what its version says', () => {
  const version = process.versions['sqlite'];
  expect(loadNodeSqlite() !== undefined).toBe(version !== undefined && isSound(version));
});

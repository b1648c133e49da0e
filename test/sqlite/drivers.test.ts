import { expect, it } from 'vitest';
import { choose, isSound, loadLibsql, loadNodeSqlite } from '../../packages/sqlite/src/connection/drivers.ts';

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
])('checks whether SQLite %s is new enough: %s', (version, expected) => {
  expect(isSound(version)).toBe(expected);
});

it('prefers the SQLite of the runtime to libsql', () => {
  const first = { open: () => Promise.reject(new Error()) as never, adopt: () => undefined };
  expect(choose([() => first, loadLibsql])).toBe(first);
  expect(choose([() => undefined, () => first])).toBe(first);
});

it('throws an error that says what to install when no driver loads', () => {
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

it('loads the SQLite of this runtime only if its version is new enough', () => {
  const version = process.versions['sqlite'];
  expect(loadNodeSqlite() !== undefined).toBe(version !== undefined && isSound(version));
});

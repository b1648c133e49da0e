import { BackpressureError } from '@webhook-backpressure/base';
import { createIntake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { createInbox, memoryStore, verifiers } from '@webhook-backpressure/inbox';
import { createSender } from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { describe, expect, it } from 'vitest';
import { framesOfCaller } from '../../../packages/base/src/errors.ts';

const inbox = { store: memoryStore(), verify: false, process: () => undefined } as const;

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('the stack of an error for a wrong option', () => {
  it.each<[string, () => unknown]>([
    ['createIntake', () => createIntake({ capacity: 0 })],
    ['an option of an option', () => createIntake({ retryAfter: { minSeconds: -1 } })],
    ['webhookBackpressure', () => webhookBackpressure({ max: 5 } as object)],
    ['webhookInbox', () => webhookInbox({ ...inbox, retry: { attempts: 0 } })],
    ['createInbox', () => createInbox({ ...inbox, verify: undefined as never })],
    ['createSender', () => createSender({ store: memoryStore(), endpoint: 5 as never })],
    ['a verifier', () => verifiers.stripe({ secret: undefined })],
    ['sqliteStore', () => sqliteStore({ path: 5 as never })],
    [
      'update',
      () => {
        createIntake().update({ capacity: 0 });
      },
    ],
  ])('begins at the line of the user: %s', (_, action) => {
    const error = thrownBy(action);
    const [head, first, ...others] = (error.stack as string).split('\n');
    expect(head).toBe(`BackpressureError: ${error.message}`);
    expect(first).toMatch(/error-stacks\.test\.ts:\d+:\d+/);
    expect(others.length).toBeLessThan(10);
  });

  it('is complete where no frame is outside of this library', async () => {
    const error = await new Promise<Error>((resolve) => {
      setImmediate(() => {
        resolve(new BackpressureError('ERR_WBP_STORE', 'two\nlines'));
      });
    });
    expect(error.stack).toMatch(/^BackpressureError: two\nlines \(ERR_WBP_STORE, .*\)\n {4}at /);
  });

  const throwing = (): never => {
    throw new Error('no stack');
  };

  it.each<[string, string, PropertyDescriptor]>([
    ['has no function for stacks', 'captureStackTrace', { value: undefined }],
    ['wants no stacks', 'stackTraceLimit', { value: 0 }],
    ['has frozen its errors', 'stackTraceLimit', { value: 10, writable: false }],
    ['formats stacks with a function that throws', 'prepareStackTrace', { value: throwing }],
    ['formats stacks as a list', 'prepareStackTrace', { value: () => [] }],
  ])('is left alone where the program %s', (_, name, replaced) => {
    const before = Object.getOwnPropertyDescriptor(Error, name);
    Object.defineProperty(Error, name, { ...replaced, configurable: true });
    let error: Error;
    try {
      error = new BackpressureError('ERR_WBP_STORE', 'wrong');
    } finally {
      if (before === undefined) Reflect.deleteProperty(Error, name);
      else Object.defineProperty(Error, name, before);
    }
    expect(error).toMatchObject({ code: 'ERR_WBP_STORE', name: 'BackpressureError' });
  });

  it('leaves the limit of stacks as it was', () => {
    const { stackTraceLimit } = Error;
    new BackpressureError('ERR_WBP_STORE', 'wrong');
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});

describe('the frames of the caller', () => {
  const user = '    at start (file:///app/packages/base/src/server.ts:7:3)';
  const rest = '    at node:internal/main/run_main_module:28:49';

  it.each([
    ['npm', 'file:///app/node_modules/@webhook-backpressure/base/dist/index.js:52:9'],
    ['CommonJS', '/app/node_modules/@webhook-backpressure/base/dist/index.cjs:52:9'],
    ['Windows', 'C:\\app\\node_modules\\@webhook-backpressure\\core\\dist\\index.cjs:52:9'],
    ['source maps', '/app/node_modules/@webhook-backpressure/core/src/intake/options.ts:52:9'],
    [
      'pnpm',
      'file:///app/node_modules/.pnpm/@webhook-backpressure+core@1.0.0/node_modules/@webhook-backpressure/core/dist/index.js:5:9',
    ],
    [
      'Yarn',
      '/app/.yarn/cache/@webhook-backpressure-core-npm-1.zip/node_modules/@webhook-backpressure/core/dist/index.js:5:9',
    ],
    ['Deno', 'file:///deno/npm/registry.npmjs.org/@webhook-backpressure/core/1.0.0-rc.1/dist/index.js:5:9'],
  ])('begin after those of the library, installed by or run with %s', (_, file) => {
    const own = [`    at invalid (${file})`, '    at Array.map (<anonymous>)', `    at ${file}`];
    expect(framesOfCaller([...own, user, rest], undefined)).toEqual([user, rest]);
    expect(framesOfCaller([...own, rest], undefined)).toEqual([...own, rest]);
  });

  it.each([
    ['a bundle', '    at invalid (file:///app/dist/server.js:52:9)'],
    ["the user's own package of the same name", '    at check (/app/packages/base/src/errors.ts:1:1)'],
    ['a top level of CommonJS', '    at Object.<anonymous> (/app/server.js:1:1)'],
  ])('are all frames of %s', (_, first) => {
    expect(framesOfCaller([first, user], undefined)).toEqual([first, user]);
  });
});

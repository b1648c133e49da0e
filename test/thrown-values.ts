import { afterEach, beforeEach } from 'vitest';

/** Values that no code expects to be thrown: by name, made anew. */
export const thrownValues: [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['zero', () => 0],
  ['an empty string', () => ''],
  ['a huge string', () => 'x'.repeat(5_000_000)],
  ['a symbol', () => Symbol('thrown')],
  ['a function', () => () => undefined],
  ['an object without a prototype', () => Object.create(null) as unknown],
  ['an object whose toString throws', () => ({ toString: boom })],
  ['a revoked proxy', revoked],
  [
    'a proxy whose traps throw',
    () => new Proxy(new Error('a'), { get: boom, getPrototypeOf: boom, has: boom }),
  ],
  ['an error whose message throws', () => Object.defineProperty(new Error('a'), 'message', { get: boom })],
  [
    'an error whose message and name are no strings',
    () => Object.assign(new Error('a'), { message: Symbol('m'), name: revoked() }),
  ],
  [
    'an error whose stack, code and status throw',
    () =>
      Object.defineProperties(new Error('a'), {
        stack: { get: boom },
        code: { get: boom },
        status: { get: boom },
      }),
  ],
];

/** Throws what cannot be read either. */
function boom(): never {
  throw revoked();
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const ENDINGS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Collects what would end the process during each test of a file. Vitest itself ends when it shows a revoked proxy.
 *
 * @returns the events that would have ended it, of the present test.
 */
export function endings(): string[] {
  const found: string[] = [];
  let before: ((...given: never[]) => void)[][];
  beforeEach(() => {
    found.length = 0;
    before = ENDINGS.map((name) => process.listeners(name as never));
    for (const name of ENDINGS) process.removeAllListeners(name).on(name as never, () => found.push(name));
  });
  afterEach(() => {
    for (const [at, name] of ENDINGS.entries()) {
      process.removeAllListeners(name);
      for (const listener of before[at] ?? []) process.on(name as never, listener as never);
    }
  });
  return found;
}

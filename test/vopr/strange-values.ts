/** Values that a handler may throw although no code expects them. */
const VALUES: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => 0,
  () => 'a text',
  () => Symbol('thrown'),
  () => Object.create(null) as unknown,
  () => Object.defineProperty(new Error('a'), 'message', { get: boom }),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
];

/** Whatever they are, they are thrown as errors are. */
export const strangeValues = VALUES as readonly (() => Error)[];

function boom(): never {
  throw new Error('it cannot be read');
}

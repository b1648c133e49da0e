/** A value that JSON can write and read again without a loss. Fields that are `undefined` are left out. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json | undefined };

/** Deeper than that, a walk could end the stack. */
const MAX_DEPTH = 64;

/** Says what is no JSON, and where. */
export class NoJson extends Error {}

/**
 * A copy that nobody can change any more.
 *
 * @throws NoJson for what JSON would drop, change or refuse: a function, a bigint, NaN, a Date or another class, a promise, a circle.
 */
export function frozenJson(value: unknown, at = '', depth = 0): Json {
  if (depth > MAX_DEPTH)
    throw new NoJson(`${at} is nested more than ${String(MAX_DEPTH)} levels deep or circular`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      break;
    case 'object':
      if (value === null) return value;
      if (Array.isArray(value)) {
        return Object.freeze(
          value.map((item, index) => frozenJson(item, `${at}[${String(index)}]`, depth + 1)),
        );
      }
      if (isPlain(value)) return frozenFields(value, at, depth);
  }
  throw new NoJson(`${at === '' ? 'the value' : at} is ${kindOf(value)}`);
}

function frozenFields(value: object, at: string, depth: number): Json {
  const fields = Object.entries(value).flatMap(([name, field]: [string, unknown]): [string, Json][] =>
    field === undefined ? [] : [[name, frozenJson(field, `${at}.${name}`, depth + 1)]],
  );
  // Defines fields, also one that is called `__proto__`.
  return Object.freeze(Object.fromEntries(fields));
}

/** Whether its prototype is that of object literals, of this realm or another one. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What it is, never what is in it: it may be a secret. */
function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `of type ${typeof value}`;
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' ? `an instance of ${name}` : 'not a plain object';
}

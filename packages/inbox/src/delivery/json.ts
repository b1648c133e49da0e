import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/base';

/** A value that JSON represents without loss. Fields that are `undefined` are omitted. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json | undefined };

/** Deeper recursion could overflow the stack. */
const MAX_DEPTH = 64;

/** A value is not JSON; the message says where and why. */
export class NotJsonError extends Error {}

/**
 * A frozen copy.
 *
 * @throws NotJsonError for a value that JSON drops, changes or refuses: a function, a bigint, NaN, a Date or another
 * class, a promise, a circular reference.
 */
function frozenJson(value: unknown, at = '', depth = 0): Json {
  if (depth > MAX_DEPTH)
    throw new NotJsonError(`${at} is nested more than ${String(MAX_DEPTH)} levels deep or circular`);
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
  throw new NotJsonError(`${at === '' ? 'the value' : at} is ${kindOf(value)}`);
}

/** The context is stored with every delivery and counts against `maxBytes`. */
const MAX_CONTEXT_CHARACTERS = 16 * 1024;

/**
 * A frozen copy of a context.
 *
 * @param must - the beginning of the message of the error that is thrown for any other value, with `code`.
 */
export function boundedContext(given: unknown, code: BackpressureErrorCode, must: string): Json {
  try {
    const context = frozenJson(given);
    const size = JSON.stringify(context).length;
    if (size <= MAX_CONTEXT_CHARACTERS) return context;
    throw new BackpressureError(code, `${must} at most 16,384 characters of JSON, but has ${String(size)}.`);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new BackpressureError(code, `${must} a JSON value, but ${error.message.replace(/^\./, '')}.`);
  }
}

function frozenFields(value: object, at: string, depth: number): Json {
  const fields = Object.entries(value).flatMap(([name, field]: [string, unknown]): [string, Json][] =>
    field === undefined ? [] : [[name, frozenJson(field, `${at}.${name}`, depth + 1)]],
  );
  // Safe for a field that is named `__proto__`.
  return Object.freeze(Object.fromEntries(fields));
}

/**
 * Checks the same as {@link frozenJson} without a copy, in a fifth of its time.
 *
 * @throws NotJsonError
 */
export function checkJson(value: unknown, at: string): void {
  const problem = problemIn(value, 0);
  if (problem !== undefined) throw new NotJsonError(`${at}${problem.at} ${problem.text}`);
}

interface Problem {
  readonly at: string;
  readonly text: string;
}

/** The path is put together only when there is a problem. */
function problemIn(value: unknown, depth: number): Problem | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  if (depth > MAX_DEPTH)
    return { at: '', text: `is nested more than ${String(MAX_DEPTH)} levels deep or circular` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const problem = problemIn(value[index], depth + 1);
      if (problem !== undefined) return { at: `[${String(index)}]${problem.at}`, text: problem.text };
    }
    return undefined;
  }
  if (typeof value !== 'object' || !isPlain(value)) return { at: '', text: `is ${kindOf(value)}` };
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name];
    const problem = field === undefined ? undefined : problemIn(field, depth + 1);
    if (problem !== undefined) return { at: `.${name}${problem.at}`, text: problem.text };
  }
  return undefined;
}

/** Whether the prototype is that of object literals, of this or another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Names the type and never the value, which may be a secret. */
function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `of type ${typeof value}`;
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' ? `an instance of ${name}` : 'not a plain object';
}

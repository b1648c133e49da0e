export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

const SHOWN_CHARACTERS = 80;

/** A value as error messages show it: cut to 80 characters, strings in quotes. Never throws. */
export function show(value: unknown): string {
  const text = describe(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** Undefined when the object's own `toJSON` returns undefined, although the types exclude it. */
function toJson(value: object): string | undefined {
  return JSON.stringify(value);
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(value.slice(0, SHOWN_CHARACTERS + 1))}`;
    case 'function':
      return 'a function';
    case 'bigint':
      return `the bigint ${value.toString()}`;
    case 'object':
      if (value === null) return 'null';
      try {
        if (isThenable(value)) return 'a promise';
        if (Array.isArray(value)) return `an array of length ${String(value.length)}`;
        return toJson(value) ?? 'an object';
      } catch {
        return 'an object';
      }
    default:
      return String(value);
  }
}

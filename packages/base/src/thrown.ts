import { show } from './shown-values.ts';

/** Some libraries put the whole response of a server into a message, and stores and logs keep it. */
const MAX_CHARACTERS = 4096;

/**
 * Reads a thrown value, which may be anything: the getters of an error may throw, and so does every operation on a revoked
 * proxy. Where that is not in the hands of this function, it ends the process.
 *
 * @returns what `read` returns, or `otherwise` if it throws.
 */
export function readThrown<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** The message of a thrown value, cut to 4,096 characters. Never throws. */
export function errorMessageOf(thrown: unknown): string {
  return cut(readThrown(() => messageOf(thrown), undefined) ?? show(thrown));
}

/**
 * Converts a thrown value to text for a warning, cut to 4,096 characters. Never throws, not even for an object without a
 * prototype, which `String` cannot convert.
 *
 * @param thrown - any value.
 * @returns the name and message of an error; any other value as `String` converts it, where it can.
 */
export function thrownText(thrown: unknown): string {
  return cut(readThrown(() => String(thrown), undefined) ?? show(thrown));
}

/**
 * Makes a callback throw only errors that can be read. Frameworks read them outside of any `try`, so a revoked proxy would
 * end the process, and some take `undefined`, or a word such as `route`, for no error. Any other value becomes the `cause`
 * of an error.
 */
export function readableErrors<C extends ((...given: never[]) => unknown) | undefined>(callback: C): C {
  if (typeof callback !== 'function') return callback;
  const call = (...given: never[]): unknown => {
    try {
      const returned = callback(...given);
      return returned instanceof Promise ? returned.catch(rethrow) : returned;
    } catch (error) {
      return rethrow(error);
    }
  };
  return call as C;
}

/** What frameworks and their loggers read. */
const FIELDS = ['name', 'message', 'stack', 'code', 'status', 'statusCode'] as const;

function rethrow(thrown: unknown): never {
  if (readThrown(() => isReadable(thrown), false)) throw thrown as Error;
  throw new Error('A callback threw a value that is not an error.', { cause: thrown });
}

function isReadable(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const fields = thrown as Record<string, unknown>;
  return [thrown, ...FIELDS.map((name) => fields[name])].every((part) => String(part).length >= 0);
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : show(thrown);
  // Libraries write other types there too, which a store could not keep.
  const { message, name } = thrown as { message: unknown; name: unknown };
  if (message === '' || message === undefined) return String(name);
  return typeof message === 'string' ? message : show(message);
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
}

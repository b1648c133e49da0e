/** The runtime's AbortSignal if its types are loaded: this package depends on no runtime's types. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean; readonly reason: unknown };

/** The runtime's AbortController. */
export interface Controller {
  readonly signal: Signal;
  abort(reason?: unknown): void;
}

declare const AbortController: new () => Controller;

export function abortController(): Controller {
  return new AbortController();
}

/** The abort reason for a timeout, named as the runtimes name it. */
export function timeoutError(sentence: string): Error {
  return Object.assign(new Error(sentence), { name: 'TimeoutError' });
}

interface Abortable {
  readonly aborted: boolean;
  /** May be anything, as the reason of a rejection. */
  readonly reason: Error;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The promise, or a rejection as soon as the signal is aborted. Each call has its own listener: a promise for all calls would
 * keep what they wait for in memory until it settles.
 */
export function unlessAborted<T>(signal: Abortable | undefined, promise: Promise<T>): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      reject(signal.reason);
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', end);
    });
  });
}

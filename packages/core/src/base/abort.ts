/** The runtime's own AbortSignal, where its types are known; this package does not depend on any runtime's. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean; readonly reason: unknown };

/** The runtime's own AbortController. */
export interface Controller {
  readonly signal: Signal;
  abort(reason?: unknown): void;
}

declare const AbortController: new () => Controller;

export function abortController(): Controller {
  return new AbortController();
}

/** The reason of a signal that is aborted because the time is up, under the name that the runtimes give it. */
export function timeoutError(sentence: string): Error {
  return Object.assign(new Error(sentence), { name: 'TimeoutError' });
}

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

/** The parts of a signal that are used here; this package does not depend on any runtime's types. */
interface PlainSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
}

/** The runtime's own AbortSignal, where its types are known. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : PlainSignal;

interface Controller {
  readonly signal: Signal;
  abort(reason?: unknown): void;
}

declare const AbortController: new () => Controller;

export function abortController(): Controller {
  return new AbortController();
}

/**
 * Actions for when a signal is aborted, with one listener for each signal: many calls of a handler may share its signal, and
 * Node warns of a leak at the eleventh listener.
 */
export class Aborts {
  readonly #bySignal = new WeakMap<
    AbortSignal,
    { readonly actions: Set<() => void>; listener: () => void }
  >();

  add(signal: AbortSignal, action: () => void): void {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) {
      known.actions.add(action);
      return;
    }
    const actions = new Set([action]);
    const listener = (): void => {
      for (const one of actions) one();
    };
    this.#bySignal.set(signal, { actions, listener });
    signal.addEventListener('abort', listener);
  }

  remove(signal: AbortSignal, action: () => void): void {
    const known = this.#bySignal.get(signal);
    if (known?.actions.delete(action) !== true || known.actions.size > 0) return;
    this.#bySignal.delete(signal);
    signal.removeEventListener('abort', known.listener);
  }
}

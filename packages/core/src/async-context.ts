/** What this package uses of `node:async_hooks`, which runtimes other than Node have too. */
interface AsyncHooks {
  readonly AsyncLocalStorage: { bind<F>(action: F): F };
}

/**
 * Binds a function to the async context of this moment: called later, from the path of any request, it sees the
 * stores of `AsyncLocalStorage` that are set now, and not those of that request.
 *
 * The core imports nothing of a runtime, so it asks the runtime for the module. Where there is none, as on Workers
 * without Node's modules, the function is returned as it is.
 */
export function boundToThisContext<F>(action: F): F {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;
  return hooks === undefined ? action : hooks.AsyncLocalStorage.bind(action);
}

/** What this package uses of `node:async_hooks`, which runtimes other than Node have too. */
interface AsyncHooks {
  readonly AsyncResource: new (type: string) => {
    runInAsyncScope<A, R>(action: (argument: A) => R, receiver: undefined, argument: A): R;
  };
}

/**
 * Binds a function to the async context of this moment: called later, from the path of any request, it sees the
 * stores of `AsyncLocalStorage` that are set now, and not those of that request.
 *
 * The core imports nothing of a runtime, so it asks the runtime for the module. Where there is none, as on Workers
 * without Node's modules, the function is returned as it is.
 */
export function boundToThisContext<A, R>(action: (argument: A) => R): (argument: A) => R {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;
  if (hooks === undefined) return action;
  // AsyncLocalStorage.bind does the same, and takes an array for the arguments of each call.
  const resource = new hooks.AsyncResource('WebhookBackpressureListener');
  return (argument) => resource.runInAsyncScope(action, undefined, argument);
}

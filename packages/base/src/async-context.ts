/** The part of `node:async_hooks` that this package uses. Other runtimes provide it too. */
interface AsyncHooks {
  readonly AsyncResource: new (type: string) => AsyncResource;
}

interface AsyncResource {
  runInAsyncScope<A, R>(action: (argument: A) => R, receiver: undefined, argument: A): R;
}

let boundResource: AsyncHooks['AsyncResource'] | undefined;

/** Jest's --detectOpenHandles reports a resource without `hasRef` as something that keeps the process alive. */
function boundResourceOf(hooks: AsyncHooks): AsyncHooks['AsyncResource'] {
  boundResource ??= class extends hooks.AsyncResource {
    hasRef(): boolean {
      return false;
    }
  };
  return boundResource;
}

/**
 * Binds a function to the current async context. When a request calls the function later, the function sees the
 * `AsyncLocalStorage` stores of now and not those of the request.
 *
 * The core imports no runtime module, so the module is requested from the runtime. If the runtime has none, such as
 * Workers without Node's modules, the function is returned unchanged.
 */
export function boundToThisContext<A, R>(action: (argument: A) => R): (argument: A) => R {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;
  if (hooks === undefined) return action;
  // AsyncLocalStorage.bind does the same but allocates an array for the arguments of each call.
  const resource = new (boundResourceOf(hooks))('WebhookBackpressureListener');
  return (argument) => resource.runInAsyncScope(action, undefined, argument);
}

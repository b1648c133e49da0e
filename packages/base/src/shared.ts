/**
 * State that must exist once in a process. A process may load this package twice: up to Node 22.11, `import` loads the ES
 * module and `require` the CommonJS module.
 */
export function shared<T>(name: string, create: () => T): T {
  const all = globalThis as Record<symbol, T | undefined>;
  return (all[Symbol.for(`webhook-backpressure.${name}`)] ??= create());
}

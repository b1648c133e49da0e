/**
 * State that must exist once in a process. A process may load this package several times: each entry is one bundle, in a
 * format for `import` and one for `require`.
 */
export function shared<T>(name: string, create: () => T): T {
  const all = globalThis as Record<symbol, { readonly value: T } | undefined>;
  return (all[Symbol.for(`webhook-backpressure.web.${name}`)] ??= { value: create() }).value;
}

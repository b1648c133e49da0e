/** What a source of events is. */
export type SourceKind = 'intake' | 'inbox' | 'sender';

/** Undefined for anything else, such as a middleware, whose intake is meant. */
export function sourceKindOf(source: unknown): SourceKind | undefined {
  if (!hasMethods(source, 'subscribe')) return undefined;
  if (hasMethods(source, 'admit')) return 'intake';
  if (hasMethods(source, 'receive')) return 'inbox';
  const { endpoints } = source as { readonly endpoints?: unknown };
  return typeof endpoints === 'object' && endpoints !== null ? 'sender' : undefined;
}

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const methods = value as Readonly<Record<string, unknown>> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

/** The options of a snapshot: plain data. */
export type Options = Readonly<Record<string, unknown>>;

/** The options that differ, with their new values; undefined when none does. An option that is gone is null. */
export function changedOptions(before: Options, after: Options): Options | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isSame(before[name], after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

/** Compares JSON data. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => isSame((a as Options)[name], (b as Options)[name]))
  );
}

/** Keys beyond this many are only counted: they come from requests. */
const MOST_KEYS = 1000;
/** A key comes from a request, and a line must stay readable. */
const MOST_CHARACTERS = 64;

/** A key as lines show it. */
export function shownKey(key: string): string {
  return key.length <= MOST_CHARACTERS ? key : `${key.slice(0, MOST_CHARACTERS)}…`;
}

/** How often each key occurs, in bounded memory. */
export class KeyCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  add(key: string): void {
    this.#total += 1;
    const count = this.#counts.get(key);
    if (count !== undefined || this.#counts.size < MOST_KEYS) this.#counts.set(key, (count ?? 0) + 1);
  }

  /** The keys with the highest counts, and the count of all others together. */
  top(most: number): { keys: { key: string; count: number }[]; otherKeys: number } {
    const keys = [...this.#counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([key, count]) => ({ key: shownKey(key), count }));
    return { keys, otherKeys: this.#total - keys.reduce((sum, { count }) => sum + count, 0) };
  }
}

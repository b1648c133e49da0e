/** So many unused slots at the front are tolerated before the array is compacted. */
const MAX_UNUSED = 1000;

/** Keys in rotation: an array with a start index. A Map or Set is slow to iterate after many removals at its front. */
export class KeyRotation {
  #keys: string[] = [];
  #first = 0;

  push(key: string): void {
    this.#keys.push(key);
  }

  shift(): string | undefined {
    const key = this.#keys[this.#first];
    if (key === undefined) return undefined;
    this.#first += 1;
    if (this.#first > MAX_UNUSED && this.#first > this.#keys.length / 2) {
      this.#keys = this.#keys.slice(this.#first);
      this.#first = 0;
    }
    return key;
  }

  /** Puts keys back at the front, in this order. */
  unshift(keys: readonly string[]): void {
    if (keys.length === 0) return;
    if (keys.length > this.#first) {
      this.#keys = [...keys, ...this.#keys.slice(this.#first)];
      this.#first = 0;
      return;
    }
    this.#first -= keys.length;
    for (const [at, key] of keys.entries()) this.#keys[this.#first + at] = key;
  }

  find(matches: (key: string) => boolean): string | undefined {
    for (let at = this.#first; at < this.#keys.length; at += 1) {
      const key = this.#keys[at] as string;
      if (matches(key)) return key;
    }
    return undefined;
  }

  clear(): void {
    this.#keys = [];
    this.#first = 0;
  }
}

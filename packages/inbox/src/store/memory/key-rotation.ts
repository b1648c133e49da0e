import type { KeyLine, QueuedEntry } from './key-line.ts';

/** Keys that take turns: a linked list, because a key may leave from any position. */
export class KeyRotation<T extends QueuedEntry> {
  #first: KeyLine<T> | undefined;
  #last: KeyLine<T> | undefined;

  get first(): KeyLine<T> | undefined {
    return this.#first;
  }

  /** Adds a key at the end, unless it is in the rotation. */
  add(line: KeyLine<T>): void {
    if (line.isInRotation) return;
    line.isInRotation = true;
    line.previous = this.#last;
    if (this.#last === undefined) this.#first = line;
    else this.#last.next = line;
    this.#last = line;
  }

  delete(line: KeyLine<T>): void {
    if (!line.isInRotation) return;
    line.isInRotation = false;
    const { previous, next } = line;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    line.previous = undefined;
    line.next = undefined;
  }

  find(matches: (line: KeyLine<T>) => boolean): KeyLine<T> | undefined {
    for (let line = this.#first; line !== undefined; line = line.next) if (matches(line)) return line;
    return undefined;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
  }
}

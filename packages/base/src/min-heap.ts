/** An item of a {@link MinHeap}; the heap maintains `heapIndex`. */
export interface Heaped {
  heapIndex: number;
}

/** A binary heap whose items store their index, so that an item can be moved or removed in O(log n). */
export class MinHeap<T extends Heaped> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item, or undefined when the heap is empty. */
  get top(): T | undefined {
    return this.#items[0];
  }

  /** All items: the first one at the front, the others in any order. */
  get items(): readonly T[] {
    return this.#items;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes and returns the first item. */
  pop(): T | undefined {
    const { top } = this;
    const last = this.#items.pop();
    if (top !== last && last !== undefined) this.#sink(last, 0);
    return top;
  }

  /** Removes an item, which must be in the heap. */
  remove(item: T): void {
    const { heapIndex } = item;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#rise(last, heapIndex);
    this.#sink(last, last.heapIndex);
  }

  /** Restores the order after an item's rank has increased. */
  moveBack(item: T): void {
    this.#sink(item, item.heapIndex);
  }

  clear(): void {
    this.#items.length = 0;
  }

  #rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex] as T;
      if (!this.#isBefore(item, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(item, index);
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      let childIndex = index * 2 + 1;
      const right = this.#items[childIndex + 1];
      if (right !== undefined && this.#isBefore(right, this.#items[childIndex] as T)) childIndex += 1;
      const child = this.#items[childIndex];
      if (child === undefined || !this.#isBefore(child, item)) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(item, index);
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}

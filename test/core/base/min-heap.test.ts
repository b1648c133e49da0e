import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Heaped, MinHeap } from '@webhook-backpressure/base';

interface Item extends Heaped {
  value: number;
}

/** A plain list that is sorted at each step. */
class SortedList {
  items: Item[] = [];

  get least(): number | undefined {
    return this.items.toSorted((a, b) => a.value - b.value)[0]?.value;
  }

  remove(item: Item): void {
    this.items = this.items.filter((other) => other !== item);
  }
}

const steps = fc.array(
  fc.tuple(fc.constantFrom('push', 'push', 'pop', 'moveBack'), fc.nat(50), fc.nat(1000)),
  { maxLength: 200, size: 'max' },
);

describe('a heap whose items know their position', () => {
  it('has the same top as a list that is sorted at each step', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const heap = new MinHeap<Item>((a, b) => a.value < b.value);
        const list = new SortedList();
        for (const [what, value, which] of script) {
          if (what === 'push') {
            const item = { value, heapIndex: 0 };
            heap.push(item);
            list.items.push(item);
          } else if (what === 'pop') {
            const item = heap.pop();
            expect(item?.value).toBe(list.least);
            if (item !== undefined) list.remove(item);
          } else if (list.items.length > 0) {
            const item = list.items[which % list.items.length] as Item;
            item.value += value;
            heap.moveBack(item);
          }
          expect(heap.size).toBe(list.items.length);
          expect(heap.top?.value).toBe(list.least);
        }
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it('returns all items in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300 }), (values) => {
        const heap = new MinHeap<Item>((a, b) => a.value < b.value);
        for (const value of values) heap.push({ value, heapIndex: 0 });
        const given: number[] = [];
        for (let item = heap.pop(); item !== undefined; item = heap.pop()) given.push(item.value);
        expect(given).toEqual(values.toSorted((a, b) => a - b));
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  it('is empty after it was cleared', () => {
    const heap = new MinHeap<Item>((a, b) => a.value < b.value);
    heap.push({ value: 1, heapIndex: 0 });
    heap.clear();
    expect([heap.size, heap.top, heap.pop()]).toEqual([0, undefined, undefined]);
    heap.push({ value: 2, heapIndex: 0 });
    expect(heap.top?.value).toBe(2);
  });

  it('compares no more often than its height', () => {
    let compared = 0;
    const heap = new MinHeap<Item>((a, b) => {
      compared += 1;
      return a.value < b.value;
    });
    const items = Array.from({ length: 1000 }, (_, value) => ({ value, heapIndex: 0 }));
    for (const item of items.toReversed()) heap.push(item);
    const height = Math.ceil(Math.log2(1001));
    for (const item of items) {
      compared = 0;
      item.value += 5000;
      heap.moveBack(item);
      expect(compared).toBeLessThanOrEqual(2 * height);
    }
  });
});

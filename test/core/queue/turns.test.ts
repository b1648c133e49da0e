import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../packages/core/src/queue/fair-queue.ts';
import { MAX_TURN_COST, Turns, type Turning } from '../../../packages/core/src/queue/turns.ts';
import { item, price, take, type Item } from './items.ts';

interface Entry extends Turning<Entry> {
  readonly id: number;
}

function entry(id: number, turn: number): Entry {
  const made = { id, turn } as { id: number; turn: number; previous: Entry; next: Entry };
  made.previous = made.next = made;
  return made;
}

/** How many of the turns each key gets if all have enough deliveries. */
function turnsOf(costs: Record<string, number>, turns: number): Record<string, number> {
  const queue = new FairQueue<Item>();
  for (const [key, cost] of Object.entries(costs)) price(queue, key, cost);
  const taken = Object.fromEntries(Object.keys(costs).map((key) => [key, 0]));
  for (const key of Object.keys(costs)) for (let i = 0; i < 3; i += 1) queue.push(item(key));
  for (let i = 0; i < turns; i += 1) {
    const { key } = take(queue) as Item;
    taken[key] = (taken[key] ?? 0) + 1;
    queue.push(item(key));
  }
  return taken;
}

describe('turns that cost differently', () => {
  it('are less frequent the more they cost', () => {
    const taken = turnsOf({ usual: 1, cheap: 1 / 50, dear: 20 }, 100_000);
    // In 100,000 turns each has had as much, but for one of the most expensive turns.
    const had = [taken['usual'] ?? 0, (taken['cheap'] ?? 0) / 50, (taken['dear'] ?? 0) * 20];
    expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(21);
    expect(Math.min(...had)).toBeGreaterThan(1900);
  });

  it('come for every key, however much they cost', () => {
    const costs = { cheap: 1 / MAX_TURN_COST, dear: MAX_TURN_COST };
    const taken = turnsOf(costs, 3 * MAX_TURN_COST * MAX_TURN_COST);
    expect(taken['dear']).toBeGreaterThanOrEqual(3);
  });

  it('come for a new key after one round, and sooner if it is known to be cheap', () => {
    const queue = new FairQueue<Item>();
    price(queue, 'cheap', 0.01);
    for (let i = 0; i < 50; i += 1) queue.push(item(`busy ${String(i % 5)}`));
    for (let i = 0; i < 7; i += 1) take(queue);
    queue.push(item('new'));
    queue.push(item('cheap'));
    const order = Array.from({ length: 9 }, () => take(queue)?.key ?? '');
    expect(order.indexOf('cheap')).toBeLessThanOrEqual(3);
    expect(order.indexOf('new')).toBeLessThanOrEqual(6);
    expect(order.indexOf('cheap')).toBeLessThan(order.indexOf('new'));
  });

  it('are still owed by a key that was empty in the meantime', () => {
    const queue = new FairQueue<Item>();
    price(queue, 'dear', 10);
    for (let i = 0; i < 100; i += 1) queue.push(item('usual'));
    queue.push(item('dear'));
    while (take(queue)?.key !== 'dear');
    queue.push(item('dear'));
    let turns = 0;
    while (take(queue)?.key !== 'dear') turns += 1;
    expect(turns).toBeGreaterThanOrEqual(9);
    expect(turns).toBeLessThanOrEqual(10);
  });

  it('are not given to a key with as many workers as it may have', () => {
    const queue = new FairQueue<Item>(1);
    const [first, second] = [item('b', 1), item('b', 2)];
    queue.start(first);
    queue.push(item('a'));
    queue.push(second);
    queue.push(item('b', 3));
    expect(take(queue)?.key).toBe('a');
    expect([queue.hasTurns, queue.peek(), queue.size]).toEqual([false, null, 2]);
    queue.end(first, 100, true);
    expect(take(queue)).toBe(second);
    expect([queue.hasTurns, queue.peek(), queue.size]).toEqual([false, null, 1]);
    queue.limit(2);
    expect(queue.peek()?.id).toBe(3);
    queue.limit(1);
    expect(queue.peek()).toBeNull();
    queue.remove(queue.oldest as Item);
    queue.end(second, 100, true);
    expect([queue.size, queue.keys, queue.hasTurns]).toEqual([0, 0, false]);
  });
});

describe('the slots of turns', () => {
  it('return the earliest to an eighth of a turn, whatever is added, moved and taken', () => {
    const step = fc.record({
      do: fc.constantFrom('add', 'take', 'move', 'remove'),
      at: fc.nat(50),
      by: fc.double({ min: 0, max: 300, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const turns = new Turns<Entry>();
        const all: Entry[] = [];
        steps.forEach((one, id) => {
          const chosen = all[one.at % Math.max(1, all.length)];
          if (one.do === 'add') {
            const added = entry(id, turns.now + one.by);
            turns.add(added);
            all.push(added);
          } else if (one.do === 'move' && chosen !== undefined) {
            turns.remove(chosen);
            chosen.turn += one.by - 150;
            turns.add(chosen);
          } else if (one.do === 'remove' && chosen !== undefined) {
            turns.remove(chosen);
            all.splice(all.indexOf(chosen), 1);
          } else if (one.do === 'take') {
            const first = turns.first();
            if ((first === null) !== (all.length === 0)) throw new Error('the turns and the lines disagree');
            if (first === null) return;
            const earliest = Math.min(...all.map(({ turn }) => turn));
            if (first.turn - earliest >= 1 / 8)
              throw new Error(`${String(first.turn)} before ${String(earliest)}`);
            turns.now = Math.max(turns.now, first.turn);
            turns.remove(first);
            all.splice(all.indexOf(first), 1);
          }
          if (turns.size !== all.length) throw new Error('the counts differ');
        });
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../packages/core/src/queue/fair-queue.ts';
import { item, take, type Item } from './items.ts';
import { TurnModel } from './turn-model.ts';

const STRANGE_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  '0',
  'k'.repeat(1_000_000),
];

describe('the fair queue', () => {
  it('has the same order as a plain list of lists', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', ...STRANGE_KEYS.slice(0, 5));
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant('push' as const), key }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat(1000) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const queue = new FairQueue<Item>();
        const model = new TurnModel<Item>();
        const byAge: Item[] = [];
        const gone = (one: Item | undefined): void => {
          if (one !== undefined) byAge.splice(byAge.indexOf(one), 1);
        };
        steps.forEach((one, id) => {
          if (one.do === 'push') {
            const added = item(one.key, id);
            queue.push(added);
            model.push(added);
            byAge.push(added);
          } else if (one.do === 'take') {
            const peeked = queue.peek();
            const taken = take(queue);
            if (taken !== peeked || taken?.line != null) throw new Error('the next one has not left');
            const expected = model.shift();
            if ((taken ?? undefined) !== expected) throw new Error('it is the turn of another');
            gone(expected);
          } else {
            const left = model.all[one.at % Math.max(1, model.size)];
            if (left === undefined) return;
            queue.remove(left);
            model.remove(left);
            gone(left);
          }
          if (queue.size !== model.size || queue.keys !== model.keys) throw new Error('the counts differ');
          if (queue.oldest !== (byAge[0] ?? null)) throw new Error('the oldest differ');
        });
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('accepts keys such as __proto__', () => {
    const queue = new FairQueue<Item>();
    for (const key of STRANGE_KEYS) expect(queue.lineOf(key)).toBeUndefined();
    STRANGE_KEYS.forEach((key, id) => {
      queue.push(item(key, id));
    });
    expect(queue.keys).toBe(STRANGE_KEYS.length);
    expect(STRANGE_KEYS.map(() => take(queue)?.id)).toEqual(STRANGE_KEYS.map((_, id) => id));
    expect({}.constructor).toBe(Object);
  });

  it('forgets a key without deliveries, and removes the links of a removed delivery', () => {
    const queue = new FairQueue<Item>();
    const items = Array.from({ length: 3000 }, (_, id) => item(String(id % 1000), id));
    for (const one of items) queue.push(one);
    for (const one of items.filter(({ id }) => id % 2 === 0)) queue.remove(one);
    while (take(queue) !== null);
    expect(queue).toMatchObject({ size: 0, keys: 0, oldest: null });
    expect(queue.peek()).toBeNull();
    expect(queue.lineOf('7')).toBeUndefined();
    for (const { line, ahead, behind, older, younger } of items) {
      expect([line, ahead, behind, older, younger].every((link) => link === null)).toBe(true);
    }
  });

  it('lets a new key wait for one turn of each other key', () => {
    const queue = new FairQueue<Item>();
    for (let id = 0; id < 100; id += 1) queue.push(item(`busy ${String(id % 5)}`));
    queue.push(item('new'));
    let turns = 1;
    while (take(queue)?.key !== 'new') turns += 1;
    expect(turns).toBe(6);
  });

  it.each([
    [1, 1, 0.5],
    [3, 1, 0.5],
    [30, 1, 0.5],
    [200, 1, 0.5],
    [30, 5, 0.5],
    // Fewer than the others: equal shares.
    [3, 5, 3 / 8],
  ])(
    'gives %i keys that are never retried at most half of the turns beside %i others',
    (many, others, share) => {
      const queue = new FairQueue<Item>();
      const keys = [...Array<boolean>(many).fill(true), ...Array<boolean>(others).fill(false)];
      const join = (at: number): void => {
        queue.push(item(`key ${String(at)}`, at, keys[at]));
      };
      keys.forEach((_, at) => {
        for (let i = 0; i < 5; i += 1) join(at);
      });
      const turns = Array<number>(keys.length).fill(0);
      for (let i = 0; i < 20_000; i += 1) {
        const at = take(queue)?.id ?? 0;
        turns[at] = (turns[at] ?? 0) + 1;
        join(at);
      }
      const unrepeated = turns.slice(0, many);
      expect(unrepeated.reduce((sum, count) => sum + count, 0) / 20_000).toBeCloseTo(share, 1);
      // Among themselves they are equal.
      expect(Math.max(...unrepeated) / Math.min(...unrepeated)).toBeLessThanOrEqual(1.35);
      const [least, most] = [Math.min(...turns.slice(many)), Math.max(...turns.slice(many))];
      expect(most / least).toBeLessThanOrEqual(1.05);
      for (let at = 0; at < keys.length; at += 1)
        while (queue.lineOf(`key ${String(at)}`) !== undefined) take(queue);
      expect(queue).toMatchObject({ size: 0, unrepeated: 0, unrepeatedKeys: 0 });
    },
  );
});

import { describe, expect, it } from 'vitest';
import { FairQueue, type Line, type Queued } from '../../../packages/core/src/queue/fair-queue.ts';
import type { KeyLoad } from '../../../packages/core/src/queue/key-loads.ts';
import { price, take } from './items.ts';

/** How often a link was read or written since the last reset: steps, not time. */
let steps = 0;

/** A delivery that counts each access to its links. */
class Counted implements Queued<Counted> {
  readonly key: string;
  readonly isUnrepeated = false;
  load: KeyLoad | null = null;
  readonly #links: [Line<Counted> | null, ...(Counted | null)[]] = [null, null, null, null, null];

  constructor(key: string) {
    this.key = key;
  }

  get line(): Line<Counted> | null {
    steps += 1;
    return this.#links[0];
  }
  set line(line: Line<Counted> | null) {
    steps += 1;
    this.#links[0] = line;
  }
  get ahead(): Counted | null {
    return this.#get(1);
  }
  set ahead(to: Counted | null) {
    this.#set(1, to);
  }
  get behind(): Counted | null {
    return this.#get(2);
  }
  set behind(to: Counted | null) {
    this.#set(2, to);
  }
  get older(): Counted | null {
    return this.#get(3);
  }
  set older(to: Counted | null) {
    this.#set(3, to);
  }
  get younger(): Counted | null {
    return this.#get(4);
  }
  set younger(to: Counted | null) {
    this.#set(4, to);
  }

  #get(at: 1 | 2 | 3 | 4): Counted | null {
    steps += 1;
    return this.#links[at] ?? null;
  }

  #set(at: 1 | 2 | 3 | 4, to: Counted | null): void {
    steps += 1;
    this.#links[at] = to;
  }
}

/** Counts accesses to the ring of the lines as well. The lines are internal, so their prototype is changed. */
function watch(line: Line<Counted>): void {
  for (const name of ['next', 'previous'] as const) {
    let to = line[name];
    Object.defineProperty(line, name, {
      get: () => {
        steps += 1;
        return to;
      },
      set: (value: Line<Counted>) => {
        steps += 1;
        to = value;
      },
    });
  }
}

/** Turns of keys cost 1/200 to 200 times the usual. */
function costOf(key: number): number {
  return 200 ** (((key % 7) - 3) / 3);
}

function filled(
  waiting: number,
  keys: number,
  cost?: (key: number) => number,
): { queue: FairQueue<Counted>; items: Counted[] } {
  const queue = new FairQueue<Counted>();
  if (cost !== undefined) for (let i = 0; i < keys; i += 1) price(queue, `key ${String(i)}`, cost(i));
  const items = Array.from({ length: waiting }, (_, i) => new Counted(`key ${String(i % keys)}`));
  for (const item of items) queue.push(item);
  for (let i = 0; i < keys; i += 1) watch(queue.lineOf(`key ${String(i)}`) as Line<Counted>);
  return { queue, items };
}

function count(action: () => unknown): number {
  steps = 0;
  action();
  return steps;
}

/** The steps of each operation on a queue. */
function stepsOf(waiting: number, keys: number): Record<string, number> {
  const { queue, items } = filled(waiting, keys);
  const middle = items[Math.floor(waiting / 2)] as Counted;
  const known = new Counted('key 0');
  const unknown = new Counted('another key');
  const push = (item: Counted) => (): void => {
    queue.push(item);
  };
  const remove = (item: Counted) => (): void => {
    queue.remove(item);
  };
  return {
    'join a known key': count(push(known)),
    'leave the end': count(remove(known)),
    'join as a new key': count(push(unknown)),
    'leave as the only one of its key': count(remove(unknown)),
    'leave the middle': count(remove(middle)),
    'look at the next': count(() => queue.peek()),
    'take the next': count(() => take(queue)),
    'count the keys': count(() => queue.keys),
    'look at a line': count(() => queue.lineOf('key 0')?.size),
  };
}

describe('the number of steps of the fair queue', () => {
  it('is the same with 10 and with 20,000 queued deliveries', () => {
    expect(stepsOf(20_000, 3)).toEqual(stepsOf(10, 3));
  }, 30_000);

  it('is the same with 10 and with 20,000 keys', () => {
    expect(stepsOf(20_000, 20_000)).toEqual(stepsOf(10, 10));
  }, 30_000);

  it('is as small with 20,000 as with 10 keys whose turns cost differently', () => {
    const most = (keys: number): number => {
      const { queue } = filled(3 * keys, keys, costOf);
      let worst = 0;
      for (let i = 0; i < 2000; i += 1) {
        worst = Math.max(
          worst,
          count(() => take(queue)),
        );
        const added = new Counted(`key ${String(i % keys)}`);
        worst = Math.max(
          worst,
          count(() => {
            queue.push(added);
          }),
        );
      }
      return worst;
    };
    expect(most(20_000)).toBeLessThanOrEqual(most(10));
  }, 30_000);

  it('would show a walk through the deliveries, and one through the lines', () => {
    const { queue, items } = filled(1000, 500);
    const walk = (): void => {
      for (let item: Counted | null = items[0] as Counted; item !== null; item = item.younger);
    };
    expect(count(walk)).toBe(1000);
    const start = queue.lineOf('key 0') as Line<Counted>;
    const round = (): void => {
      for (let line = start.next; line !== start; line = line.next);
    };
    expect(count(round)).toBe(500);
  });
});

import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../packages/core/src/queue/fair-queue.ts';
import { item, price, take, type Item } from './items.ts';

/** A queue with so many deliveries of each key. Those of keys that begin with `once` are never retried. */
function queued(counts: Readonly<Record<string, number>>, mostPerKey?: number): FairQueue<Item> {
  const queue = new FairQueue<Item>(mostPerKey);
  for (const [key, count] of Object.entries(counts))
    for (let id = 0; id < count; id += 1) queue.push(item(key, id, key.startsWith('once')));
  return queue;
}

/** Deliveries of this key start without having been queued. */
function start(queue: FairQueue<Item>, key: string, count = 1): Item[] {
  const items = Array.from({ length: count }, (_, id) => item(key, id));
  for (const one of items) queue.start(one);
  return items;
}

function handle(queue: FairQueue<Item>, key: string, tookMs: number): void {
  for (const one of start(queue, key)) queue.end(one, tookMs, true);
}

describe('the turns until a delivery starts', () => {
  it.each([
    ['one of each key for each delivery of this key', 'a', false, 6],
    ['one of each other key for a new key', 'new', false, 4],
    ['at most all that are queued', 'b', false, 22],
  ])('are %s', (_, key, isUnrepeated, turns) => {
    expect(queued({ a: 1, b: 10, c: 10 }).turnsUntil(key, isUnrepeated)).toBe(turns);
  });

  it.each([
    ['once 1', true, 12],
    ['once new', true, 8],
    ['a', false, 24],
    ['new', false, 4],
  ])('are more if its key is one of many that are never retried: %s', (key, isUnrepeated, turns) => {
    const queue = queued({ 'once 1': 1, 'once 2': 1, 'once 3': 1, a: 20 });
    expect(queue.turnsUntil(key, isUnrepeated)).toBe(turns);
  });

  it('are those of all keys if none is retried', () => {
    expect(queued({ 'once 1': 5, 'once 2': 5 }).turnsUntil('once 3', true)).toBe(3);
  });
});

describe('the wait for a worker that the key may have', () => {
  it('is the time until enough deliveries of the key have ended', () => {
    const queue = queued({}, 2);
    handle(queue, 'a', 100);
    expect(queue.spacingMs('a')).toBe(50);
    expect(queue.ownWaitMs('a')).toBe(0);
    start(queue, 'a', 2);
    expect(queue.ownWaitMs('a')).toBe(50);
    for (let id = 0; id < 3; id += 1) queue.push(item('a', id));
    expect(queue.ownWaitMs('a')).toBe(200);
    expect(queue.spacingMs('new')).toBe(0);
    expect(queue.ownWaitMs('new')).toBe(0);
  });

  it('is 0 if a key may have all workers', () => {
    const queue = queued({ a: 3 });
    handle(queue, 'a', 100);
    expect([queue.spacingMs('a'), queue.ownWaitMs('a')]).toEqual([0, 0]);
  });
});

describe('a key', () => {
  it('is blocked while one with handlers of twice its time has all workers', () => {
    const queue = queued({});
    expect(queue.isBlocked('fast', 2)).toBe(false);
    for (const [key, tookMs] of [
      ['slow', 1000],
      ['fast', 100],
      ['half', 500],
      ['similar', 501],
    ] as const)
      handle(queue, key, tookMs);
    start(queue, 'slow', 2);
    queue.push(item('slow'));
    expect(['fast', 'half', 'similar', 'slow', 'new'].filter((key) => queue.isBlocked(key, 2))).toEqual([
      'fast',
      'half',
    ]);
    expect([1, 3].filter((workers) => queue.isBlocked('fast', workers))).toEqual([]);
  });

  it('blocks no delivery of the same key, however short the handlers of the key are', () => {
    const queue = queued({});
    handle(queue, 'a', 0);
    start(queue, 'a', 2);
    queue.push(item('a'));
    expect(queue.isBlocked('a', 2)).toBe(false);
  });

  it('holds a share if it has as many queued deliveries as the mean of all keys', () => {
    const queue = queued({ a: 1, b: 3, c: 2 });
    expect(['a', 'b', 'c', 'none'].filter((key) => queue.holdsShare(key))).toEqual(['b', 'c']);
  });

  it('has no turns until a worker of it is free', () => {
    const queue = queued({}, 2);
    const [first, second] = start(queue, 'a', 2) as [Item, Item];
    queue.limit(1);
    queue.push(item('a'));
    queue.end(first, 1, true);
    expect(queue.hasTurns).toBe(false);
    queue.end(second, 1, true);
    expect(queue.hasTurns).toBe(true);
  });

  it('without turns can leave the queue, and others keep theirs', () => {
    const queue = queued({}, 1);
    start(queue, 'a');
    const parked = item('a');
    queue.push(parked);
    queue.push(item('b'));
    queue.remove(parked);
    expect(queue.peek()?.key).toBe('b');
    expect(queue.hasTurns).toBe(true);
  });

  it('pays also for a delivery that was not queued', () => {
    const queue = queued({});
    price(queue, 'a', 8);
    start(queue, 'a');
    queue.push(item('a'));
    for (let id = 0; id < 6; id += 1) queue.push(item('b', id));
    expect(Array.from({ length: 7 }, () => take(queue)?.key)).toEqual([...Array<string>(6).fill('b'), 'a']);
  });

  it('with an earlier turn is first as soon as it joins', () => {
    const queue = queued({});
    price(queue, 'a', 8);
    start(queue, 'a');
    queue.push(item('a'));
    expect(queue.peek()?.key).toBe('a');
    queue.push(item('b'));
    expect(queue.peek()?.key).toBe('b');
    price(queue, 'c', 32);
    start(queue, 'c');
    queue.push(item('c'));
    expect(queue.peek()?.key).toBe('b');
  });

  it('that is never retried pays the usual price while no other key has deliveries', () => {
    const queue = queued({ 'once 1': 3, 'once 2': 3 });
    for (let turn = 0; turn < 2; turn += 1) take(queue);
    for (let id = 0; id < 10; id += 1) queue.push(item('a', id));
    const next = Array.from({ length: 4 }, () => take(queue)?.key);
    expect(next).toContain('once 1');
    expect(next).toContain('once 2');
  });
});

describe('the longest line', () => {
  it('is the last one that grew to at least its size, until it is empty', () => {
    const queue = queued({});
    const [first, second, third] = [item('a'), item('b'), item('b')];
    queue.push(first);
    queue.push(second);
    expect(queue.longest?.key).toBe('b');
    queue.push(third);
    queue.remove(first);
    expect(queue.longest?.key).toBe('b');
    queue.push(item('a'));
    expect(queue.longest?.key).toBe('b');
    queue.remove(second);
    queue.remove(third);
    expect(queue.longest).toBeNull();
  });
});

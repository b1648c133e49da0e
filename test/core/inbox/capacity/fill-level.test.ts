import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { resolveInboxOptions } from '../../../../packages/inbox/src/options/inbox-settings.ts';
import { FillLevel } from '../../../../packages/inbox/src/capacity/fill-level.ts';

const BYTES = 1000;

/** Marks at 80 and 50 deliveries of a thousand bytes, by count or by size. */
function levelOf(limits: { capacity?: number; maxBytes?: number }): FillLevel {
  const required = { store: memoryStore(), process: () => undefined, verify: false } as const;
  const level = new FillLevel();
  level.resize(resolveInboxOptions({ ...required, ...limits }).settings, null);
  return level;
}

function put(level: FillLevel, key: string, isEntitled = false): 'full' | 'shedding' | 'stored' {
  level.judge();
  const shortage = level.ask(key, isEntitled, 0, false, false);
  if (shortage !== undefined) return shortage;
  level.end(level.begin({ key, bytes: BYTES }), true);
  return 'stored';
}

function fill(level: FillLevel, key: string, count: number, isEntitled = false): number {
  let stored = 0;
  for (let at = 0; at < count; at += 1) if (put(level, key, isEntitled) === 'stored') stored += 1;
  return stored;
}

function drain(level: FillLevel, key: string, count: number): void {
  for (let at = 0; at < count; at += 1) level.remove({ key, bytes: BYTES });
  level.judge();
}

describe('the fill level of an inbox', () => {
  it('estimates the usage of each key when it starts with a full store', () => {
    const level = levelOf({ maxBytes: 100 * BYTES });
    const byKey = new Map([
      ['noisy', 84],
      ['quiet', 1],
    ]);
    level.fill({ depth: 85, bytes: 85 * BYTES }, byKey);
    expect(level.keys).toBe(2);
    expect([put(level, 'noisy'), put(level, 'quiet')]).toEqual(['shedding', 'stored']);
  });

  it('forgets a key when its last delivery has finished, even if its estimate was wrong', () => {
    const level = levelOf({ maxBytes: 100 * BYTES });
    level.fill({ depth: 2, bytes: 10 * BYTES }, new Map([['a', 2]]));
    drain(level, 'a', 2);
    expect([level.keys, level.holdsShare('a')]).toEqual([0, false]);
    // The store's count is the correct one.
    level.correct({ depth: 0, bytes: 0 });
    expect([level.depth, level.bytes]).toEqual([0, 0]);
  });

  it('counts what this process stores while the totals of a shared store are read', () => {
    const level = levelOf({ capacity: 100 });
    level.fill({ depth: 10, bytes: 10 * BYTES }, new Map([['a', 10]]));
    const before = level.ownChanges;
    fill(level, 'a', 2);
    level.adopt({ depth: 10, bytes: 10 * BYTES }, before);
    expect([level.depth, level.bytes]).toEqual([12, 12 * BYTES]);
    level.adopt({ depth: 12, bytes: 12 * BYTES }, level.ownChanges);
    expect([level.depth, level.bytes]).toEqual([12, 12 * BYTES]);
  });

  it('counts deliveries that arrive while the store reports that it is empty', () => {
    const level = levelOf({ capacity: 100 });
    const coming = level.begin({ key: 'a', bytes: BYTES });
    level.correct({ depth: 0, bytes: 0 });
    level.end(coming, true);
    expect([level.depth, level.bytes, level.keys, level.holdsShare('a')]).toEqual([1, BYTES, 1, true]);
    drain(level, 'a', 1);
    expect([level.depth, level.bytes, level.keys]).toEqual([0, 0, 0]);
  });

  it('does not count deliveries that were not stored', () => {
    const level = levelOf({ maxBytes: 100 * BYTES });
    put(level, 'small');
    for (let at = 0; at < 40; at += 1) level.end(level.begin({ key: 'small', bytes: BYTES }), false);
    fill(level, 'noisy', 79);
    expect([put(level, 'noisy'), put(level, 'small')]).toEqual(['shedding', 'stored']);
  });

  it('keeps small keys out of the last quarter of the reserve', () => {
    const level = levelOf({ capacity: 100 });
    fill(level, 'noisy', 80);
    expect(fill(level, 'entitled', 14, true)).toBe(14);
    expect([put(level, 'small'), put(level, 'small'), put(level, 'other', true)]).toEqual([
      'stored',
      'shedding',
      'stored',
    ]);
  });

  it('resets the reserve when the gate has opened, however much was used', () => {
    const level = levelOf({ capacity: 100 });
    fill(level, 'noisy', 80);
    for (let at = 0; at < 12; at += 1) expect(put(level, `entitled ${String(at)}`, true)).toBe('stored');
    drain(level, 'noisy', 42);
    expect(level.shedding).toBe(false);
    fill(level, 'noisy', 30);
    expect(put(level, 'other', true)).toBe('stored');
    // Until it holds an equal share of the capacity among 14 keys.
    expect(fill(level, 'one', 20, true)).toBe(7);
  });

  it('stays correct for each key after any sequence of events', () => {
    const level = levelOf({ capacity: 20, maxBytes: 25 * BYTES });
    const held = new Map<string, number>();
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 2000; step += 1) {
      const key = `key ${String(random(5))}`;
      const has = held.get(key) ?? 0;
      if (random(2) === 0) {
        level.judge();
        const isEntitled = random(2) === 0;
        if (level.ask(key, isEntitled, step, false, false) === undefined) {
          const isStored = random(4) > 0;
          level.end(level.begin({ key, bytes: BYTES }), isStored);
          if (isStored) held.set(key, has + 1);
        }
      } else if (has > 0) {
        level.remove({ key, bytes: BYTES });
        held.set(key, has - 1);
      }
      const depths = [...held.values()];
      const depth = depths.reduce((sum, one) => sum + one, 0);
      const keys = depths.filter((one) => one > 0).length;
      const now = held.get(key) ?? 0;
      expect([level.depth, level.keys, level.holdsShare(key)]).toEqual([
        depth,
        keys,
        now > 0 && now * keys >= depth,
      ]);
      expect(level.depth).toBeLessThanOrEqual(20);
    }
    for (const [key, count] of held) drain(level, key, count);
    fill(level, 'noisy', 16);
    // The reserve has not leaked: of four places each of two keys gets two.
    expect(put(level, 'two', true)).toBe('stored');
    expect(fill(level, 'one', 10, true)).toBe(2);
  });
});

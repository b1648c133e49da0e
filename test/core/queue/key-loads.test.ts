import { describe, expect, it } from 'vitest';
import { KeyLoads } from '../../../packages/core/src/queue/key-loads.ts';
import { MAX_TURN_COST } from '../../../packages/core/src/queue/turns.ts';
import { exponential, seeded } from '../harness.ts';

function handle(loads: KeyLoads, key: string, tookMs: number, teaches = true): void {
  loads.end(loads.start(key), tookMs, teaches);
}

/** Keys that take turns until the means are settled, with so many milliseconds each. */
function settled(tookMs: Readonly<Record<string, number>>, rounds = 500): KeyLoads {
  const loads = new KeyLoads();
  for (let i = 0; i < rounds; i += 1) for (const [key, ms] of Object.entries(tookMs)) handle(loads, key, ms);
  return loads;
}

function known(loads: KeyLoads, names: readonly string[]): string[] {
  return names.filter((name) => loads.of(name) !== undefined);
}

describe('the load of a key', () => {
  it('is unknown before its first delivery, which costs 1', () => {
    const loads = new KeyLoads();
    expect(loads.of('a')).toBeUndefined();
    expect(loads.start('a')).toMatchObject({ active: 1, samples: 0, meanMs: 0, cost: 1 });
  });

  it('counts the deliveries that are being handled', () => {
    const loads = new KeyLoads();
    const load = loads.start('a');
    expect(loads.start('a')).toBe(load);
    loads.start('b');
    expect([loads.active('a'), loads.active('b'), loads.active('c')]).toEqual([2, 1, 0]);
    loads.end(load, 10, true);
    loads.end(load, 10, false);
    expect(loads.active('a')).toBe(0);
  });

  it('has the mean of its last deliveries, without interrupted ones', () => {
    const loads = new KeyLoads();
    for (const ms of [10, 20, 60]) handle(loads, 'a', ms);
    expect(loads.of('a')?.meanMs).toBeCloseTo(30);
    for (let i = 0; i < 100; i += 1) handle(loads, 'a', 0, false);
    expect(loads.of('a')).toMatchObject({ samples: 3 });
    expect(loads.of('a')?.meanMs).toBeCloseTo(30);
    // That of about sixteen: after 64 other ones hardly anything of the old mean is left.
    for (let i = 0; i < 64; i += 1) handle(loads, 'a', 1000);
    expect(loads.of('a')?.meanMs).toBeGreaterThan(970);
    expect(loads.of('a')?.meanMs).toBeLessThan(1000);
  });
});

describe('the cost of a turn', () => {
  it('is the mean of the key divided by that of all deliveries', () => {
    const loads = settled({ fast: 10, slow: 190 });
    expect(loads.of('fast')?.cost).toBeCloseTo(0.1, 2);
    // The mean of all contains 1.9 parts of the slow key and 0.1 of the fast one: less than twice it.
    expect(loads.of('slow')?.cost).toBe(1);
    const three = settled({ one: 10, two: 10, slow: 280 });
    expect(three.of('slow')?.cost).toBeCloseTo(2.8, 1);
    expect(three.of('one')?.cost).toBeCloseTo(0.1, 2);
  });

  it('is 1 within a factor of two of the mean, also when handling times vary', () => {
    const random = seeded(1);
    const loads = new KeyLoads();
    let others = 0;
    const count = 20_000;
    for (let i = 0; i < count; i += 1) {
      const key = `key ${String(i % 10)}`;
      handle(loads, key, exponential(random, 100));
      if (i >= 1000 && loads.of(key)?.cost !== 1) others += 1;
    }
    expect(others / count).toBeLessThan(0.02);
  });

  it('is not 1 from a factor of two on', () => {
    const loads = settled({ a: 100, b: 100, c: 100, d: 100, e: 500 });
    expect(loads.of('a')?.cost).toBe(1);
    expect(loads.of('e')?.cost).toBeGreaterThan(2.5);
    expect(settled({ a: 100, b: 100, c: 100, d: 100, e: 240 }).of('e')?.cost).toBe(1);
  });

  it('is bounded, however much handling times differ', () => {
    const loads = new KeyLoads();
    for (let i = 0; i < 2000; i += 1) handle(loads, 'usual', 1);
    handle(loads, 'slow', 10_000_000);
    expect(loads.of('slow')?.cost).toBeLessThanOrEqual(MAX_TURN_COST);
    expect(loads.of('slow')?.cost).toBeGreaterThan(100);
    handle(loads, 'fast', 0);
    expect(loads.of('fast')?.cost).toBe(1 / MAX_TURN_COST);
  });

  it('is 1 while all handlers take no time', () => {
    expect(settled({ a: 0, b: 0 }).of('a')?.cost).toBe(1);
  });
});

describe('idle keys', () => {
  it('are forgotten: of 100,000 keys that were handled once at most about 2,000 are remembered', () => {
    const loads = new KeyLoads();
    const names = Array.from({ length: 100_000 }, (_, i) => `invented ${String(i)}`);
    for (const name of names) handle(loads, name, 10);
    expect(known(loads, names).length).toBeLessThanOrEqual(2000);
    expect(known(loads, names).length).toBeGreaterThanOrEqual(900);
  });

  it('are forgotten too if each was handled often', () => {
    const loads = new KeyLoads();
    const names = Array.from({ length: 20_000 }, (_, i) => `tenant ${String(i)}`);
    for (const name of names) for (let i = 0; i < 3; i += 1) handle(loads, name, 10);
    expect(known(loads, names).length).toBeLessThanOrEqual(2001);
  });

  it('that were handled often are remembered beside 100,000 that were handled once', () => {
    const loads = new KeyLoads();
    const regular = Array.from({ length: 500 }, (_, i) => `regular ${String(i)}`);
    for (const name of regular) for (let i = 0; i < 3; i += 1) handle(loads, name, 10);
    for (let i = 0; i < 100_000; i += 1) handle(loads, `invented ${String(i)}`, 10);
    expect(known(loads, regular)).toHaveLength(500);
  });

  it('do not include a key with a delivery that is being handled', () => {
    const loads = new KeyLoads();
    const busy = Array.from({ length: 3000 }, (_, i) => `busy ${String(i)}`);
    const held = busy.map((name) => loads.start(name));
    for (let i = 0; i < 100_000; i += 1) handle(loads, `invented ${String(i)}`, 10);
    expect(busy.map((name) => loads.of(name))).toEqual(held);
    expect(busy.every((name) => loads.active(name) === 1)).toBe(true);
  });
});

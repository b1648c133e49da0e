import { describe, expect, it } from 'vitest';
import { type KeyLimit, UNLIMITED } from '../../../../packages/inbox/src/options/key-limits.ts';
import type { KeyTokens } from '../../../../packages/inbox/src/work/key-tokens.ts';
import { KeyTurns, type Turn } from '../../../../packages/inbox/src/work/key-turns.ts';
import { type ClaimRoom, KeyWants } from '../../../../packages/inbox/src/work/key-wants.ts';

/** Keys with deliveries that are due at 0, in this order, and their limits. */
class Bench {
  nowMs = 0;
  readonly turns = new KeyTurns();
  readonly forgotten: string[] = [];
  readonly #limits: Readonly<Record<string, Partial<KeyLimit>>>;
  readonly #wants: KeyWants;

  constructor(limits: Readonly<Record<string, Partial<KeyLimit>>>, useful = 10) {
    this.#limits = limits;
    const tokens = {
      ask: (turn: Turn) =>
        void Object.assign(turn, { limit: this.#limitOf(turn.key), askedAtMs: this.nowMs }),
      forget: (key: string) => void this.forgotten.push(key),
    };
    this.#wants = new KeyWants(this.turns, tokens as unknown as KeyTokens, () => this.nowMs);
    for (const key of Object.keys(limits)) {
      this.turns.due(key, 0, 0);
      this.turns.at(key).useful = useful;
    }
  }

  #limitOf(key: string): KeyLimit {
    return { ...UNLIMITED, ...this.#limits[key] };
  }

  /** What a claim with so much room is to have, such as `a 2`. */
  next(count: number, roomOf: ClaimRoom['roomOf'] = () => Infinity): readonly string[] {
    return this.#wants.next({ count, roomOf }).map(({ turn, count: most }) => `${turn.key} ${String(most)}`);
  }

  get nextTurnMs(): number {
    return this.#wants.nextTurnMs;
  }
}

describe('a claim', () => {
  it('is for as many deliveries as there are free workers, one of each key in turn', () => {
    expect(new Bench({ a: {}, b: {}, c: {} }).next(2)).toEqual(['a 1', 'b 1']);
  });

  it('divides the workers that are left by the weights', () => {
    expect(new Bench({ a: { weight: 2 }, b: {} }).next(6)).toEqual(['a 4', 'b 2']);
    expect(new Bench({ a: { weight: 2 }, b: {} }).next(7)).toEqual(['a 5', 'b 2']);
    expect(new Bench({ a: { weight: 5 }, b: {} }).next(3)).toEqual(['a 3']);
  });

  it('is for no more than a key may have, and others have the rest', () => {
    expect(new Bench({ a: { maxConcurrent: 2 }, b: {} }).next(8)).toEqual(['a 2', 'b 6']);
    expect(new Bench({ a: {}, b: {} }).next(8, (key) => (key === 'a' ? 3 : Infinity))).toEqual([
      'a 3',
      'b 5',
    ]);
    const bench = new Bench({ a: { maxConcurrent: 3 } });
    bench.turns.at('a').runs = 1;
    expect(bench.next(8)).toEqual(['a 2']);
  });

  it('is for about as many as there are of a key', () => {
    expect(new Bench({ a: {}, b: { weight: 3 } }, 2).next(8)).toEqual(['a 2', 'b 3']);
  });

  it('is for at most a thousand keys', () => {
    const keys = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`key ${String(i)}`, {}]));
    expect(new Bench(keys).next(2000)).toHaveLength(1000);
  });

  it('leaves each key the rest of its turn', () => {
    const bench = new Bench({ a: { weight: 3 } });
    bench.turns.at('a').left = 2;
    expect(bench.next(2)).toEqual(['a 2']);
    expect(bench.turns.at('a')).toMatchObject({ left: 2, isBusy: true, isOutdated: false });
    const whole = new Bench({ a: { weight: 3 } });
    whole.turns.at('a').isOutdated = true;
    whole.next(2);
    expect(whole.turns.at('a')).toMatchObject({ left: 3, isBusy: true, isOutdated: false });
    const begun = new Bench({ a: { weight: 3 }, b: {} });
    begun.turns.at('a').left = 1;
    expect(begun.next(2)).toEqual(['a 1', 'b 1']);
  });

  it('passes over a key without room, which keeps its place', () => {
    const bench = new Bench({ a: {}, b: {}, c: {} });
    expect(bench.next(9, (key) => (key === 'a' ? 0 : 1))).toEqual(['b 1', 'c 1']);
    expect(bench.nextTurnMs).toBe(Infinity);
    expect(bench.next(1)).toEqual(['a 1']);
  });

  it('passes over a key that its limits do not let start', () => {
    const bench = new Bench({ a: {}, b: {} });
    bench.turns.at('a').tokenAtMs = 500;
    expect(bench.next(9)).toEqual(['b 9']);
    expect(bench.nextTurnMs).toBe(500);
    bench.nowMs = 500;
    expect(bench.next(1)).toEqual(['a 1']);
  });

  it('is for a key of a higher priority first, and of a lower one with what is left', () => {
    const bench = new Bench({ bulk: { rank: 2 }, normal: {}, critical: { rank: 0 } }, 1);
    // All are taken for normal until their limits are known.
    expect(bench.next(1)).toEqual(['normal 1']);
    expect(bench.next(1)).toEqual(['bulk 1']);
    expect(bench.next(9)).toEqual(['critical 1']);
    const known = new Bench({ bulk: { rank: 2 }, normal: {} }, 3);
    expect(known.next(5)).toEqual(['normal 3', 'bulk 2']);
  });

  it.each<[string, Partial<Turn>, boolean]>([
    ['that has no delivery', {}, true],
    ['that has a run', { runs: 1 }, false],
    ['that is held', { heldUntilMs: 30_001 }, false],
    ['whose hold has ended', { heldUntilMs: 30_000 }, true],
    ['with a delivery', { dueMs: 40_000 }, false],
  ])('forgets a key %s: %o, %s', (_, changes, isForgotten) => {
    const bench = new Bench({ a: {} });
    const turn = bench.turns.take(1, 0) as Turn;
    Object.assign(turn, { dueMs: Infinity, ...changes });
    bench.turns.putBack(turn);
    bench.nowMs = 30_000;
    expect(bench.next(9)).toEqual([]);
    expect([bench.forgotten, bench.turns.find('a') === undefined]).toEqual([
      isForgotten ? ['a'] : [],
      isForgotten,
    ]);
  });
});

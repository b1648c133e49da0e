import { describe, expect, it } from 'vitest';
import { UNLIMITED } from '../../../../packages/inbox/src/options/key-limits.ts';
import { KeyTurns, LIMITS_MS, Turn } from '../../../../packages/inbox/src/work/key-turns.ts';

/** A turn of a key with a delivery that is due at 1000, whose limits were asked for at 0. */
function turnWith(changes: Partial<Turn> = {}): Turn {
  return Object.assign(new Turn('a'), { dueMs: 1000, askedAtMs: 0, ...changes });
}

describe('a key', () => {
  it.each<[string, Partial<Turn>, start: number, next: number]>([
    ['when its next delivery is due', {}, 1000, 1000],
    ['when a token is there', { tokenAtMs: 2000 }, 2000, 2000],
    ['when a hold ends', { heldUntilMs: 3000 }, 3000, 3000],
    ['and is asked for its limits before', { tokenAtMs: 50_000 }, 50_000, LIMITS_MS],
    [
      'and is asked for its limits when the delivery is due',
      { dueMs: 20_000, tokenAtMs: 50_000 },
      50_000,
      20_000,
    ],
    [
      'not while it has all the workers it may have',
      { limit: { ...UNLIMITED, maxConcurrent: 2 }, runs: 2 },
      Infinity,
      LIMITS_MS,
    ],
    ['while it has fewer', { limit: { ...UNLIMITED, maxConcurrent: 2 }, runs: 1 }, 1000, 1000],
    ['not without a delivery: it is forgotten', { dueMs: Infinity }, Infinity, LIMITS_MS],
    [
      'not without a delivery: it is forgotten when a hold has ended',
      { dueMs: Infinity, heldUntilMs: 90_000 },
      Infinity,
      90_000,
    ],
    [
      'not without a delivery: while it runs it is not forgotten',
      { dueMs: Infinity, runs: 1 },
      Infinity,
      Infinity,
    ],
  ])('may start %s', (_, changes, startMs, nextMs) => {
    const turn = turnWith(changes);
    expect([turn.startMs, turn.nextMs]).toEqual([startMs, nextMs]);
  });

  it('is limited while a due delivery may not start', () => {
    const turn = turnWith({ tokenAtMs: 2000 });
    expect([999, 1000, 1999, 2000].map((nowMs) => turn.isLimitedAt(nowMs))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('starts as many new deliveries as its share of them says', () => {
    const turn = turnWith({ limit: { ...UNLIMITED, freshShare: 0.25 } });
    const newest = Array.from({ length: 8 }, () => {
      const isNewest = turn.takesNewest(1);
      turn.noteFresh(1, 1, isNewest);
      return isNewest;
    });
    expect(newest).toEqual([false, true, false, false, false, true, false, false]);
    expect(turnWith().takesNewest(1)).toBe(false);
  });

  it('starts the others after a claim that found too few new ones', () => {
    const turn = turnWith({ limit: { ...UNLIMITED, freshShare: 0.5 } });
    expect(turn.takesNewest(4)).toBe(true);
    turn.noteFresh(4, 3, true);
    expect(turn.takesNewest(4)).toBe(false);
    turn.noteFresh(4, 4, false);
    expect(turn.takesNewest(4)).toBe(false);
    turn.noteFresh(4, 4, false);
    expect(turn.takesNewest(4)).toBe(true);
    turn.noteFresh(4, 4, true);
    // Two are ahead of the share now.
    expect(turn.takesNewest(4)).toBe(false);
  });
});

describe('the keys', () => {
  const take = (turns: KeyTurns, nowMs: number, rank = 1): string | undefined => turns.take(rank, nowMs)?.key;

  it('have their turns in the order of their times, and then of arrival', () => {
    const turns = new KeyTurns();
    for (const [key, atMs] of [
      ['late', 30],
      ['b', 20],
      ['a', 20],
      ['early', 10],
    ] as const)
      turns.due(key, atMs, 0);
    expect(turns.nextMs).toBe(10);
    expect(take(turns, 9)).toBeUndefined();
    expect([take(turns, 10), take(turns, 19), take(turns, 20), take(turns, 30), take(turns, 30)]).toEqual([
      'early',
      undefined,
      'b',
      'a',
      'late',
    ]);
    expect([take(turns, 30), turns.nextMs]).toEqual([undefined, Infinity]);
  });

  it('keep their place while they wait, unless an earlier delivery is due', () => {
    const turns = new KeyTurns();
    turns.due('a', 10, 0);
    turns.due('b', 20, 0);
    turns.due('a', 30, 0);
    expect(turns.find('a')?.dueMs).toBe(10);
    turns.review(turns.at('a'), 40);
    expect(take(turns, 40)).toBe('a');
    turns.due('c', 60, 50);
    turns.due('b', 5, 50);
    turns.due('c', 5, 50);
    expect([take(turns, 50), take(turns, 50)]).toEqual(['b', 'c']);
  });

  it('have their place back when they were passed over', () => {
    const turns = new KeyTurns();
    turns.due('a', 10, 0);
    turns.due('b', 10, 0);
    const turn = turns.take(1, 10) as Turn;
    turns.putBack(turn);
    expect([take(turns, 10), take(turns, 10)]).toEqual(['a', 'b']);
  });

  it('have no place while they are claimed, and are looked at again if more became due', () => {
    const turns = new KeyTurns();
    turns.due('a', 10, 0);
    const turn = turns.take(1, 10) as Turn;
    turn.isBusy = true;
    turns.due('a', 5, 10);
    turns.review(turn, 10);
    expect([turn.isOutdated, turn.dueMs, take(turns, 10)]).toEqual([true, 5, undefined]);
    turn.isBusy = false;
    turns.review(turn, 10);
    expect(take(turns, 10)).toBe('a');
  });

  it('move to the place of their new priority', () => {
    const turns = new KeyTurns();
    turns.due('a', 10, 0);
    const turn = turns.at('a');
    turn.limit = { ...UNLIMITED, rank: 0 };
    turns.review(turn, 10);
    expect([take(turns, 10, 1), take(turns, 10, 0)]).toEqual([undefined, 'a']);
  });

  it('are forgotten one by one', () => {
    const turns = new KeyTurns();
    turns.due('a', 10, 0);
    turns.due('b', 10, 0);
    turns.forget(turns.at('a'));
    expect([...turns.values()].map(({ key }) => key)).toEqual(['b']);
  });
});

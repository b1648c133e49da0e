import { checkHistory, type HistoryEvent, type HistoryRule } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';

type Given = Partial<HistoryEvent> & { readonly type: string };

/** Events a second apart, unless they say when. */
function history(given: readonly Given[]): HistoryEvent[] {
  return given.map((event, at) => ({ atMs: at * 1000, ...event }));
}

const of = (type: string, id: string, more: Partial<HistoryEvent> = {}): Given => ({ type, id, ...more });

/** What one delivery of an inbox goes through. */
const ONE = [of('stored', 'a'), of('acknowledged', 'a'), of('started', 'a'), of('completed', 'a')];

function found(...given: readonly Given[]): [HistoryRule, ...(readonly number[])][] {
  return checkHistory(history(given)).map(({ rule, events }) => [rule, ...events]);
}

describe('checkHistory', () => {
  it.each<[string, readonly Given[]]>([
    ['nothing', []],
    ['a delivery that is completed', ONE],
    [
      'one that is retried, and dead',
      [of('stored', 'a'), of('started', 'a'), of('failed', 'a'), of('started', 'a'), of('dead', 'a')],
    ],
    ['one that is pending at the end', [of('acknowledged', 'a'), of('pending', 'a')]],
    [
      'a redriven dead letter',
      [of('stored', 'a'), of('dead', 'a'), of('redriven', 'a'), of('started', 'a'), of('completed', 'a')],
    ],
    [
      'dead letters that were redriven without their ids',
      [of('stored', 'a'), of('dead', 'a'), { type: 'redriven' }, of('started', 'a'), of('completed', 'a')],
    ],
    ['an id that is stored again after it was forgotten', [...ONE, of('forgotten', 'a'), ...ONE]],
    ['an overflow that is purged', [of('overflow', 'a'), { type: 'purged' }]],
    ['a discarded dead letter', [of('overflow', 'a'), of('discarded', 'a')]],
    ['the same id in two keys', [...ONE, ...ONE.map((event) => ({ ...event, key: 'k' }))]],
    [
      'a worker that has not noticed that another has completed its delivery',
      [
        of('stored', 'a'),
        of('started', 'a', { worker: 'x' }),
        of('started', 'a', { worker: 'y' }),
        of('completed', 'a', { worker: 'y' }),
        of('started', 'a', { worker: 'z' }),
        of('failed', 'a', { worker: 'x' }),
        of('lost', 'a', { worker: 'z' }),
      ],
    ],
    ['types that it does not know', [{ type: 'outage', key: null }, { type: 'committed' }]],
    [
      'a limit that is removed',
      [
        { type: 'limits', concurrency: 0, capacity: 0 },
        { type: 'limits', concurrency: null, capacity: null },
        ...ONE,
      ],
    ],
    [
      'starts as fast as allowed',
      [
        { type: 'limits', perSecond: 10, burst: 2 },
        // The last one within the microsecond that a rate is kept to.
        ...[0, 0, 100, 200, 299.9995].flatMap((atMs, i) => [
          of('started', String(i), { atMs }),
          of('ended', String(i), { atMs }),
        ]),
      ],
    ],
    [
      'totals',
      [
        ...ONE,
        of('stored', 'b', { worker: 'x' }),
        of('pending', 'b'),
        { type: 'totals', counts: { stored: 2, completed: 1, dead: 0, pending: 1 } },
        { type: 'totals', worker: 'x', counts: { stored: 1, completed: 0 } },
      ],
    ],
    [
      'the runs of a process that has died',
      [
        { type: 'limits', concurrency: 1 },
        of('stored', 'a'),
        of('started', 'a', { worker: 'x' }),
        { type: 'died', worker: 'x' },
        of('started', 'a', { worker: 'y' }),
        of('completed', 'a', { worker: 'y' }),
      ],
    ],
  ])('accepts %s', (_what, events) => {
    expect(checkHistory(history(events))).toEqual([]);
  });

  it.each<[string, readonly Given[], ...(readonly [HistoryRule, ...(readonly number[])][])]>([
    ['an acknowledged delivery without a result', [of('acknowledged', 'a'), of('started', 'a')], ['lost', 0]],
    ['a stored one without a result', [of('stored', 'a')], ['lost', 0]],
    ['a redriven one without a result', [of('overflow', 'a'), of('redriven', 'a')], ['lost', 0]],
    ['a delivery that is stored twice', [...ONE.slice(0, 2), ...ONE], ['twice', 0, 2]],
    ['one that is stored again after its completion', [...ONE, of('stored', 'a')], ['twice', 3, 4]],
    ['one that is completed twice', [...ONE, of('completed', 'a')], ['twice', 3, 4]],
    [
      'one that is completed twice by two workers',
      [of('stored', 'a'), of('completed', 'a', { worker: 'x' }), of('completed', 'a', { worker: 'y' })],
      ['twice', 1, 2],
    ],
    ['one that dies after its completion', [...ONE, of('dead', 'a')], ['settled', 3, 4]],
    [
      'one that is started after its completion',
      [...ONE, of('started', 'a'), of('ended', 'a')],
      ['settled', 3, 4],
    ],
    ['one that fails after its completion', [...ONE, of('failed', 'a')], ['settled', 3, 4]],
    [
      'one that is redriven before its completion',
      [of('stored', 'a'), of('redriven', 'a'), of('completed', 'a'), of('started', 'a')],
      ['settled', 2, 3],
    ],
    [
      'one that is redriven in another key',
      [...ONE, { type: 'redriven', key: 'k' }, of('started', 'a')],
      ['settled', 3, 5],
    ],
    ['a completed delivery that is pending', [...ONE, of('pending', 'a')], ['settled', 3, 4]],
    [
      'a delivery that runs twice',
      [of('stored', 'a'), of('started', 'a'), of('started', 'a'), of('completed', 'a')],
      ['running', 1, 2],
    ],
    [
      'an exclusive one that runs in two workers',
      [
        { type: 'limits', exclusive: true },
        of('stored', 'a'),
        of('started', 'a', { worker: 'x' }),
        of('started', 'a', { worker: 'y' }),
        of('completed', 'a', { worker: 'y' }),
      ],
      ['running', 2, 3],
    ],
    [
      'a result of a worker that another has replaced',
      [
        of('stored', 'a'),
        of('started', 'a', { worker: 'y' }),
        of('failed', 'a', { worker: 'x' }),
        of('completed', 'a', { worker: 'y' }),
      ],
      ['foreign', 1, 2],
    ],
    [
      'a delivery that overtakes another of its key',
      [
        { type: 'limits', ordered: true },
        of('stored', 'a'),
        of('stored', 'b'),
        of('stored', 'c', { key: 'k' }),
        of('started', 'c', { key: 'k' }),
        of('completed', 'c', { key: 'k' }),
        of('started', 'b'),
        of('completed', 'b'),
        of('started', 'a'),
        of('completed', 'a'),
      ],
      ['order', 1, 6],
    ],
    [
      'one that is started while the one before waits for its retry',
      [
        { type: 'limits', key: 'k', ordered: true },
        ...['a', 'b'].map((id) => of('stored', id, { key: 'k' })),
        of('started', 'a', { key: 'k' }),
        of('failed', 'a', { key: 'k' }),
        of('started', 'b', { key: 'k' }),
        of('completed', 'b', { key: 'k' }),
        of('dead', 'a', { key: 'k' }),
      ],
      ['order', 1, 5],
    ],
    [
      'one that overtakes a redriven one',
      [
        { type: 'limits', ordered: true },
        of('stored', 'a'),
        of('dead', 'a'),
        of('redriven', 'a'),
        of('stored', 'b'),
        of('started', 'b'),
        of('completed', 'b'),
        of('started', 'a'),
        of('completed', 'a'),
      ],
      ['order', 1, 5],
    ],
    [
      'too many unfinished deliveries',
      [
        { type: 'limits', capacity: 1 },
        of('stored', 'a'),
        of('stored', 'b'),
        of('completed', 'a'),
        of('completed', 'b'),
        of('stored', 'c'),
        of('pending', 'c'),
      ],
      ['capacity', 2],
    ],
    [
      'too many of a key',
      [
        { type: 'limits', key: 'k', capacity: 0 },
        ...ONE,
        of('stored', 'a', { key: 'k' }),
        of('dead', 'a', { key: 'k' }),
      ],
      ['capacity', 5],
    ],
    [
      'too many runs',
      [{ type: 'limits', concurrency: 1 }, of('started', 'a'), of('started', 'b')],
      ['concurrency', 2],
    ],
    [
      'too many runs of a key',
      [
        { type: 'limits', key: 'k', concurrency: 1 },
        of('started', 'a'),
        of('started', 'a', { key: 'k' }),
        of('started', 'b', { key: 'k' }),
      ],
      ['concurrency', 3],
    ],
    [
      'too many runs of a worker',
      [
        { type: 'limits', worker: 'x', concurrency: 1 },
        of('started', 'c'),
        of('started', 'a', { worker: 'x' }),
        of('started', 'b', { worker: 'x' }),
      ],
      ['concurrency', 3],
    ],
    [
      'too many runs of a key in a worker',
      [
        { type: 'limits', worker: 'x', key: 'k', concurrency: 0 },
        of('started', 'a', { worker: 'x' }),
        of('started', 'b', { worker: 'y', key: 'k' }),
        of('started', 'c', { worker: 'x', key: 'k' }),
      ],
      ['concurrency', 3],
    ],
    [
      'starts that are too fast',
      [
        { type: 'limits', perSecond: 10 },
        ...[0, 100, 199].map((atMs) => of('started', String(atMs), { atMs })),
      ],
      ['rate', 3],
    ],
    [
      'a start before a Retry-After',
      [
        { type: 'retry-after', key: 'k', untilMs: 2001 },
        of('started', 'a'),
        of('started', 'a', { key: 'k', atMs: 2000 }),
        of('started', 'b', { key: 'k', atMs: 2001 }),
      ],
      ['retry-after', 0, 2],
    ],
    [
      'a start before the later of two, of one delivery',
      [
        of('retry-after', 'a', { untilMs: 3001 }),
        of('retry-after', 'a', { untilMs: 9 }),
        of('started', 'b'),
        of('started', 'a'),
      ],
      ['retry-after', 0, 3],
    ],
    ['wrong totals', [...ONE, { type: 'totals', counts: { completed: 2 } }], ['totals', 4]],
    [
      'wrong totals of a worker',
      [...ONE, { type: 'totals', worker: 'x', counts: { completed: 1 } }],
      ['totals', 4],
    ],
    [
      'a wrong number of unfinished deliveries',
      [...ONE, { type: 'totals', counts: { pending: 1 } }],
      ['totals', 4],
    ],
  ])('finds %s', (_what, events, ...violations) => {
    expect(found(...events)).toEqual(violations);
  });
});

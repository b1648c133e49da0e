import { checkHistory, type HistoryEvent } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';

describe('the input of checkHistory', () => {
  it.each<[string, unknown]>([
    ['no array', 'events'],
    ['no objects', [null]],
    ['no type', [{ atMs: 1 }]],
    ['no time', [{ type: 'stored', id: 'a' }]],
    ['a time that is no number', [{ type: 'stored', id: 'a', atMs: NaN }]],
    ['no id', [{ type: 'completed', atMs: 1 }]],
    ['no untilMs', [{ type: 'retry-after', atMs: 1 }]],
    ['a death of no worker', [{ type: 'died', atMs: 1 }]],
    ['no counts', [{ type: 'totals', atMs: 1 }]],
    ['a negative limit', [{ type: 'limits', atMs: 1, concurrency: -1 }]],
    ['a fraction as capacity', [{ type: 'limits', atMs: 1, capacity: 0.5 }]],
    ['a rate of nothing', [{ type: 'limits', atMs: 1, perSecond: 0 }]],
    ['a burst of nothing', [{ type: 'limits', atMs: 1, perSecond: 1, burst: 0 }]],
    ['an order of a worker', [{ type: 'limits', atMs: 1, worker: 'x', ordered: true }]],
    ['an order that is no boolean', [{ type: 'limits', atMs: 1, ordered: 1 }]],
    ['exclusive as a word', [{ type: 'limits', atMs: 1, exclusive: 'yes' }]],
  ])('rejects %s', (_what, events) => {
    expect(() => checkHistory(events as HistoryEvent[])).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_HISTORY' }) as Error,
    );
  });
});

describe('a violation', () => {
  it('says what happened in a sentence', () => {
    const run = { atMs: 1, key: 'k', id: 'a' };
    expect(
      checkHistory([
        { type: 'limits', atMs: 0, key: 'k', concurrency: 0 },
        { ...run, type: 'started' },
        { ...run, type: 'completed' },
        { ...run, type: 'completed' },
      ]).map(({ message }) => message),
    ).toEqual([
      'Delivery a of the key k makes 1 runs of the key "k" at the same time, and the limit is 0.',
      'Delivery a of the key k was completed twice.',
    ]);
  });
});

describe('a long history', () => {
  it('is checked in linear time: 100,000 events of an ordered key', () => {
    const ids = Array.from({ length: 25_000 }, (_, i) => String(i));
    const types = ['started', 'completed', 'acknowledged'];
    const events = [
      { type: 'limits', ordered: true, capacity: 25_000, concurrency: 1, perSecond: 1000 },
      ...ids.map((id) => ({ type: 'stored', id })),
      ...ids.flatMap((id) => types.map((type) => ({ type, id }))),
    ];
    expect(checkHistory(events.map((event, at) => ({ ...event, atMs: at * 1000 })))).toEqual([]);
  });
});

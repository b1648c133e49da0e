import { describe, expect, it } from 'vitest';
import { byMinute, extentOf, spansOf, timeByState } from '../../../packages/dashboard/page/data/summary.ts';

describe('the state band', () => {
  it('joins seconds of the same state', () => {
    const spans = spansOf([0, 1000, 2000, 3000], ['accepting', 'accepting', 'shedding', 'accepting']);
    expect(spans).toEqual([
      { state: 'accepting', from: 0, to: 2000 },
      { state: 'shedding', from: 2000, to: 3000 },
      { state: 'accepting', from: 3000, to: 3000 },
    ]);
  });

  it('leaves a gap where no state is known', () => {
    const spans = spansOf([0, 1000, 60_000, 61_000], ['accepting', 'accepting', 'accepting', null]);
    expect(spans).toEqual([
      { state: 'accepting', from: 0, to: 3500 },
      { state: 'accepting', from: 60_000, to: 61_000 },
    ]);
  });

  it('sums up the time in each state, the longest first', () => {
    const spans = spansOf(
      [0, 1000, 2000, 4000, 5000],
      ['shedding', 'accepting', 'accepting', 'shedding', 'accepting'],
    );
    expect(timeByState(spans)).toEqual([
      { state: 'accepting', ms: 3000, times: 2 },
      { state: 'shedding', ms: 2000, times: 2 },
    ]);
  });
});

describe('tables of charts', () => {
  it('finds the last, least and greatest of the known values', () => {
    expect(extentOf([3, null, 1, 2])).toEqual({ last: 2, least: 1, most: 3 });
    expect(extentOf([1, null])).toEqual({ last: null, least: 1, most: 1 });
    expect(extentOf([])).toEqual({ last: null, least: null, most: null });
  });

  it('has a row for each minute, the newest first', () => {
    const rows = byMinute([59_000, 60_000, 61_000, 125_000], [[1, 2, 3, 4]]);
    expect(rows.map(({ at, extents }) => [at, extents[0]?.last, extents[0]?.least])).toEqual([
      [120_000, 4, 4],
      [60_000, 3, 2],
      [0, 1, 1],
    ]);
    expect(byMinute([], [[]])).toEqual([]);
  });
});

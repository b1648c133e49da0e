import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../../packages/dashboard/page/data/sample.ts';
import { MAX_SAMPLES, Series } from '../../../packages/dashboard/page/data/series.ts';
import { INBOX_COLUMNS, INTAKE_COLUMNS } from '../../../packages/dashboard/src/state/history.ts';
import type { InboxView, IntakeView } from '@webhook-backpressure/dashboard';
import { createIntake } from '@webhook-backpressure/core';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { observe } from '@webhook-backpressure/observe';
import { manualClock } from '@webhook-backpressure/core/testing';

describe('Series', () => {
  it('takes the history of the server and appends states to it', () => {
    const series = new Series();
    series.replace({ at: [1000, 2000], series: { depth: [1, null], state: ['accepting', 'shedding'] } });
    series.append(3000, { depth: 5, state: 'shedding' });
    expect(series.at).toEqual([1000, 2000, 3000]);
    expect(series.numbers('depth')).toEqual([1, null, 5]);
    expect(series.words('state', 1)).toEqual(['shedding', 'shedding']);
  });

  it('keeps columns of equal length when a column comes or is missing', () => {
    const series = new Series();
    series.replace({ at: [1000, 2000], series: { depth: [1, 2] } });
    series.append(3000, { booked: 7 });
    expect(series.numbers('depth')).toEqual([1, 2, null]);
    expect(series.numbers('booked')).toEqual([null, null, 7]);
    expect(series.numbers('unheard-of')).toEqual([null, null, null]);
  });

  it('ignores a state that is not newer than the last', () => {
    const series = new Series();
    series.append(2000, { depth: 1 });
    series.append(2000, { depth: 2 });
    series.append(1000, { depth: 3 });
    expect(series.numbers('depth')).toEqual([1]);
  });

  it('has no values while the computer slept, so that no line crosses that time', () => {
    const series = new Series();
    series.replace({ at: [1000, 2000, 60_000, 63_000, 90_000], series: { depth: [1, 2, 3, 4, 5] } });
    expect(series.at).toEqual([1000, 2000, 2001, 60_000, 63_000, 63_001, 90_000]);
    expect(series.numbers('depth')).toEqual([1, 2, null, 3, 4, null, 5]);
    series.append(99_000, { depth: 6 });
    expect(series.at.slice(-3)).toEqual([90_000, 90_001, 99_000]);
    expect(series.numbers('depth').slice(-3)).toEqual([5, null, 6]);
  });

  it('holds at most 900 samples', () => {
    const series = new Series();
    for (let second = 1; second <= MAX_SAMPLES + 10; second++)
      series.append(second * 1000, { depth: second });
    expect(series.at).toHaveLength(MAX_SAMPLES);
    expect(series.numbers('depth')[0]).toBe(11);
    const long = Array.from({ length: MAX_SAMPLES + 5 }, (_, index) => index + 1);
    series.replace({ at: long, series: { depth: long } });
    expect([series.at.length, series.numbers('depth')[0]]).toEqual([MAX_SAMPLES, 6]);
  });

  it('finds the samples of the last minute', () => {
    const series = new Series();
    for (let second = 1; second <= 100; second++) series.append(second * 1000, {});
    expect(series.at[series.indexSince(60_000)]).toBe(40_000);
    expect(series.indexSince(900_000)).toBe(0);
    expect(new Series().indexSince(60_000)).toBe(0);
  });
});

describe('a sample of a state', () => {
  const rates = { arrivals: 1, started: 2, stored: 2, completed: 3, refused: 4 };

  it('has the columns and values that the server keeps of an intake', () => {
    const clock = manualClock();
    const intake = createIntake({ clock });
    const view: IntakeView = { snapshot: { ...intake.snapshot(), ...observe(intake).read() }, rates };
    const expected = Object.entries(INTAKE_COLUMNS).map(([name, read]) => [name, read(view.snapshot, rates)]);
    const { state, ...columns } = sampleOf({ kind: 'intake', name: 'a', view });
    expect(state).toBe('accepting');
    expect({ stored: 2, ...columns }).toEqual({ stored: 2, ...withoutState(expected) });
  });

  it('has the columns and values that the server keeps of an inbox', async () => {
    const clock = manualClock();
    const inbox = createInbox({ clock, store: memoryStore(), process: () => undefined, verify: false });
    const view: InboxView = { snapshot: { ...inbox.snapshot(), ...observe(inbox).read() }, rates };
    const expected = Object.entries(INBOX_COLUMNS).map(([name, read]) => [name, read(view.snapshot, rates)]);
    const { state, ...columns } = sampleOf({ kind: 'inbox', name: 'a', view });
    expect(state).toBe('accepting');
    expect({ started: 2, ...columns }).toEqual({ started: 2, ...withoutState(expected) });
    await inbox.close({ timeoutMs: 0 });
  });
});

function withoutState(columns: unknown[][]): Record<string, unknown> {
  return Object.fromEntries(columns.filter(([name]) => name !== 'state') as [string, unknown][]);
}

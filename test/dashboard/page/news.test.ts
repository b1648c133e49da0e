import { createIntake } from '@webhook-backpressure/core';
import type { ActiveAlarm } from '@webhook-backpressure/observe';
import { observe } from '@webhook-backpressure/observe';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { News } from '../../../packages/dashboard/page/data/news.ts';
import type { Source } from '../../../packages/dashboard/page/data/wire.ts';

const rates = { arrivals: 0, started: 0, completed: 0, refused: 0 };
const intake = createIntake({ clock: manualClock() });
const snapshot = { ...intake.snapshot(), ...observe(intake).read() };
const alarm: ActiveAlarm = {
  code: 'WBP_ALARM_STALLED',
  sinceMs: 0,
  value: 1,
  threshold: 1,
  message: 'It hangs.',
  help: '',
};

function source(change: Partial<typeof snapshot>): Source {
  return { kind: 'intake', name: 'orders', view: { snapshot: { ...snapshot, ...change }, rates } };
}

describe('News', () => {
  it('announces changed states and raised alarms once, and nothing of the first state', () => {
    const news = new News();
    expect(news.of([source({ alarms: [alarm] })])).toEqual([]);
    expect(news.of([source({ state: 'shedding', alarms: [] })])).toEqual(['orders: shedding.']);
    expect(news.of([source({ state: 'shedding', alarms: [alarm] })])).toEqual([
      'Alarm of orders: Stalled. It hangs.',
    ]);
    expect(news.of([source({ state: 'shedding', alarms: [alarm] })])).toEqual([]);
  });
});

import { Scheduler } from '@webhook-backpressure/inbox/store';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../packages/sender/src/dispatch/calendar.ts';
import { Destination } from '../../../packages/sender/src/dispatch/destinations.ts';

function made(id: string, queued: number): Destination {
  const destination = new Destination(id);
  destination.stored = queued;
  return destination;
}

function ids(destinations: readonly Destination[]): string[] {
  return destinations.map(({ id }) => id);
}

describe('the calendar', () => {
  it('returns endpoints that keep up before those with a backlog of less than ten seconds', () => {
    const clock = manualClock();
    const calendar = new Calendar(new Scheduler(clock, () => clock.now()), () => undefined);
    calendar.place(made('old backlog', 9), 1000, 20_000);
    calendar.place(made('backlog', 9), 15_000, 20_000);
    calendar.place(made('single', 1), 20_000, 20_000);
    calendar.place(made('later', 1), 20_001, 20_000);
    expect(ids(calendar.take(2, 20_000))).toEqual(['old backlog', 'single']);
    expect(ids(calendar.take(9, 20_000))).toEqual(['backlog']);
  });

  it('wakes when the first one is due', () => {
    const clock = manualClock();
    const wakes: number[] = [];
    const calendar = new Calendar(new Scheduler(clock, () => clock.now()), () => wakes.push(clock.now()));
    const first = made('first', 1);
    calendar.place(made('second', 1), 200, 0);
    calendar.place(first, 100, 0);
    calendar.place(first, 150, 0);
    clock.advance(99);
    expect(wakes).toEqual([]);
    clock.advance(60);
    expect(ids(calendar.take(9, clock.now()))).toEqual(['first']);
    calendar.setTimer(clock.now());
    clock.advance(100);
    expect(wakes.at(-1)).toBeGreaterThanOrEqual(200);
    expect(ids(calendar.take(9, clock.now()))).toEqual(['second']);
  });
});

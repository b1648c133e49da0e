import { describe, expect, it } from 'vitest';
import { FleetPace } from '../../../../packages/core/src/refusals/fleet-pace.ts';

describe('the share of a receiver', () => {
  function paceOf(members: number): FleetPace {
    const pace = new FleetPace();
    pace.members = members;
    pace.learn(0, 0);
    pace.learn(0, 2000);
    return pace;
  }

  it('stays equal at the beginning of a burst, of which each knows only its own bookings', () => {
    const pace = paceOf(4);
    for (let i = 0; i < 500; i += 1) pace.noteBooking();
    expect(pace.share(3000)).toBeCloseTo(0.25, 1);
  });

  it('grows before the next beat if the bookings move to it', () => {
    const pace = paceOf(4);
    pace.learn(800, 4000);
    expect(pace.share(4000)).toBe(0.125);
    for (let i = 0; i < 400; i += 1) pace.noteBooking();
    expect(pace.share(5000)).toBeGreaterThan(0.4);
  });

  it('is equal again 5 s after the last beat', () => {
    const pace = paceOf(4);
    pace.learn(800, 4000);
    expect(pace.share(9000)).toBe(0.125);
    expect(pace.share(9001)).toBe(0.25);
  });
});

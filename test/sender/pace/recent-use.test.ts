import { describe, expect, it } from 'vitest';
import { RecentUse } from '../../../packages/sender/src/pace/learning-pace.ts';

describe('the recent use', () => {
  it('is the most in flight of requests that were started and answered together', () => {
    const use = new RecentUse();
    for (let inFlight = 10; inFlight >= 1; inFlight -= 1) expect(use.note(0, inFlight, 100)).toBe(10);
  });

  it('is that of the latest requests of a round trip, too', () => {
    const use = new RecentUse();
    use.note(0, 5, 100);
    expect(use.note(50, 10, 150)).toBe(10);
  });

  it('contains the round trip before, and none before that', () => {
    const use = new RecentUse();
    use.note(0, 10, 100);
    expect(use.note(100, 1, 200)).toBe(10);
    expect(use.note(200, 1, 300)).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { InboxTraffic } from '../inbox-traffic.ts';

/** One worker for ten deliveries per second, and a tenth of the default capacity. */
const SMALL = { concurrency: 1, capacity: 10_000 };

describe('an inbox in a burst', () => {
  it.each([
    ['five times the drain rate for a minute', { perSecond: 50, forS: 60 }],
    ['five hundred times the drain rate for a second', { perSecond: 5000, forS: 1 }],
  ])('acknowledges the first attempt of every delivery: %s', async (_, burst) => {
    const { events, attempts, acknowledged } = await new InboxTraffic(SMALL).arrive({
      ...burst,
      areRetried: true,
    });
    expect({ attempts, acknowledged }).toEqual({ attempts: events, acknowledged: events });
  });

  it('refuses for about ten seconds at a time, however large it is', async () => {
    const traffic = new InboxTraffic({ ...SMALL, capacity: 500 });
    const { closedS } = await traffic.arrive({ perSecond: 50, forS: 60, areRetried: false });
    expect(closedS.length).toBeGreaterThanOrEqual(3);
    expect(Math.min(...closedS)).toBeGreaterThan(9);
    expect(Math.max(...closedS)).toBeLessThan(11);
  });

  it('spreads retries at the drain rate, although the burst has lasted for long when it sheds', async () => {
    const traffic = new InboxTraffic({ ...SMALL, capacity: 600, keyGenerator: () => 'shop' });
    await traffic.arrive({ perSecond: 50, forS: 60, areRetried: true });
    const { events, attempts, acknowledged, clearS } = await traffic.finish();
    expect(acknowledged).toBe(events);
    expect(attempts / events).toBeLessThan(2);
    expect(clearS).toBeLessThan(1.05 * (events / 10));
  });
});

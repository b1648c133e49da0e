import { describe, expect, it } from 'vitest';
import { mix, type Member } from '../mixture.ts';

const SECONDS = 20;
/** A drain rate of 10 a second: a run is ten times shorter than with handlers of 100 ms. */
const SLOW = { concurrency: 10, maxWaitMs: 8000 };

function member(sender: string, perSecond: number, more: Partial<Member> = {}): Member {
  return { sender, key: `small ${sender}`, perSecond, untilS: SECONDS, ...more };
}

const flood = (sender: string): Member => member(sender, 50, { key: 'flood' });

describe('a small sender that never retries', () => {
  // Senders that retry and obey, retry by their own schedule, never retry, and are unknown.
  it.each(['hookdeck', 'svix', 'github', 'default'])(
    'loses nothing beside five times the drain rate of %s',
    async (name) => {
      for (const seed of [1, 2, 3]) {
        const smalls = [member('github', 2, { clump: 10 }), member('twilio', 1)];
        const options = { seed, service: { ms: 1000 }, intake: SLOW, untilS: SECONDS + 20 };
        const outcomes = await mix([...smalls, flood(name)], options);
        for (const { key = '' } of smalls) {
          const { events, delivered } = outcomes.get(key) ?? { events: 0, delivered: -1 };
          expect(delivered, `${key}, seed ${String(seed)}`).toBe(events);
        }
      }
    },
  );
});

describe('a flood that claims to never be retried', () => {
  it('gets at most half of the starts, and the others keep their retries', async () => {
    const others = member('hookdeck', 12, { key: 'genuine', untilS: 60 });
    const forged = { ...flood('github'), untilS: 60 };
    const options = { seed: 1, service: { ms: 1000 }, intake: SLOW, untilS: 62 };
    const outcomes = await mix([others, forged], options);
    const [genuine = 0, claimed = 0] = ['genuine', 'flood'].map((key) => outcomes.get(key)?.delivered ?? 0);
    expect(claimed).toBeLessThanOrEqual(1.05 * genuine);
    expect(genuine + claimed).toBeGreaterThan(550);
  });
});

import { memoryStore } from '@webhook-backpressure/inbox';
import type { Buckets } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { Destinations, type Learned } from '../../../packages/sender/src/dispatch/destinations.ts';
import { settle } from '../../../packages/sender/src/options/sender-options.ts';
import { SenderContext } from '../../../packages/sender/src/outbox/sender-context.ts';

// Nothing in here reads it.
const LEARNED = {} as Learned;

function created(): { destinations: Destinations; forgotten: string[] } {
  const forgotten: string[] = [];
  const buckets: Buckets = {
    take: (_, count) => ({ taken: count, waitMs: 0 }),
    giveBack: () => undefined,
    pause: () => undefined,
    peek: () => null,
    forget: (id) => forgotten.push(id),
    processes: 1,
  };
  const settings = settle({ store: memoryStore(), endpoint: () => null, clock: manualClock(), buckets });
  return { destinations: new Destinations(new SenderContext(settings)), forgotten };
}

describe('endpoints without events', () => {
  it('are forgotten immediately when nothing was learned about them', () => {
    const { destinations, forgotten } = created();
    destinations.retire(destinations.at('a'));
    expect(forgotten).toEqual(['a']);
    expect(destinations.peek('a')).toBeUndefined();
  });

  it('keep what was learned: the last 10,000 of them', () => {
    const { destinations, forgotten } = created();
    for (let n = 0; n <= 10_000; n += 1) {
      const destination = destinations.at(String(n));
      destination.learned = LEARNED;
      destinations.retire(destination);
    }
    expect(forgotten).toEqual(['0']);
    expect(destinations.peek('0')).toBeUndefined();
    expect(destinations.size).toBe(0);
    expect(destinations.at('1').learned).toBe(LEARNED);
    expect(destinations.size).toBe(1);
  });
});

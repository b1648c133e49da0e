import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../packages/sender/src/dispatch/destination.ts';
import { Destinations } from '../../../packages/sender/src/dispatch/destinations.ts';

// Nothing in here reads it.
const LEARNED = {} as Learned;

describe('endpoints without events', () => {
  it('are forgotten immediately when nothing was learned about them', () => {
    const forgotten: string[] = [];
    const destinations = new Destinations((id) => forgotten.push(id));
    destinations.retire(destinations.at('a'));
    expect(forgotten).toEqual(['a']);
    expect(destinations.peek('a')).toBeUndefined();
  });

  it('keep what was learned: the last 10,000 of them', () => {
    const forgotten: string[] = [];
    const destinations = new Destinations((id) => forgotten.push(id));
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

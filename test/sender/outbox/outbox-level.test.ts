import { describe, expect, it } from 'vitest';
import { OutboxLevel } from '../../../packages/sender/src/outbox/outbox-level.ts';

function level(): OutboxLevel {
  return new OutboxLevel({ capacity: 10, maxBytes: 1000 });
}

describe('the level of the outbox', () => {
  it('counts events that are being stored', () => {
    const of = level();
    for (let n = 0; n < 9; n += 1) of.begin(10);
    expect(of.fits(10)).toBe(true);
    expect(of.fits(911)).toBe(false);
    of.begin(10);
    expect(of.fits(10)).toBe(false);
    of.end(10, false);
    expect(of.fits(10)).toBe(true);
    expect(of.depth).toBe(0);
  });

  it('leaves half of the room when many dead letters are put back, and none of it for one', () => {
    const of = level();
    of.begin(100);
    of.add({ bytes: 200 });
    expect(of.room('low')).toEqual({ count: 3, bytes: 200 });
    expect(of.room('high')).toEqual({ count: 8, bytes: 700 });
  });

  it('adopts the counts of the store, and what was stored during the call on top', () => {
    const of = level();
    for (let n = 0; n < 3; n += 1) of.add({ bytes: 10 });
    const before = of.ownChanges;
    of.add({ bytes: 5 });
    expect(of.adopt({ depth: 2, bytes: 20 }, before)).toBe(false);
    expect([of.depth, of.bytes]).toEqual([3, 25]);
  });

  it('recognizes another process by a difference that nothing in transit explains', () => {
    const of = level();
    expect(of.adopt({ depth: 1, bytes: 10 }, of.ownChanges)).toBe(false);
    expect(of.adopt({ depth: 2, bytes: 10 }, of.ownChanges, true)).toBe(true);
    expect(of.adopt({ depth: 515, bytes: 10 }, of.ownChanges)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { OutboxLevel } from '../../../packages/sender/src/outbox/outbox-level.ts';

function level(): OutboxLevel {
  return new OutboxLevel({ capacity: 10, maxBytes: 1000 });
}

describe('the level of the outbox', () => {
  it('counts events that are being stored', () => {
    const of = level();
    for (let n = 0; n < 9; n += 1) of.begin('a', 10);
    expect(of.incomingOf('a')).toBe(9);
    expect(of.fits(10, 0, 1)).toBe(true);
    expect(of.fits(911, 0, 1)).toBe(false);
    of.begin('b', 10);
    expect(of.fits(10, 0, 1)).toBe(false);
    of.end('b', 10, false);
    expect(of.fits(10, 0, 1)).toBe(true);
    expect([of.depth, of.incomingOf('b')]).toEqual([0, 0]);
  });

  it('keeps the last tenth of the places, or of the bytes, for endpoints that hold less than a share of it', () => {
    const of = new OutboxLevel({ capacity: 100, maxBytes: 10_000 });
    for (let n = 0; n < 89; n += 1) of.add({ bytes: 10 });
    expect([of.fits(1, 89, 1), of.isOpen]).toEqual([true, true]);
    of.add({ bytes: 10 });
    expect([of.fits(1, 90, 1), of.isOpen]).toEqual([false, false]);
    expect([of.fits(1, 4, 1), of.fits(1, 5, 1), of.fits(1, 3, 2), of.fits(1, 4, 2)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    const byBytes = new OutboxLevel({ capacity: 100, maxBytes: 10_000 });
    for (let n = 0; n < 9; n += 1) byBytes.add({ bytes: 1000 });
    expect([byBytes.fits(500, 9, 1), byBytes.fits(500, 0, 1)]).toEqual([false, true]);
  });

  it('has room for an endpoint without events as long as there is any, however many hold some', () => {
    const of = new OutboxLevel({ capacity: 10_000, maxBytes: 1e9 });
    const held = new Map<number, number>();
    // Each takes what it can, one after the other: those that come later never find everything taken.
    for (let endpoint = 0; endpoint < 30; endpoint += 1) {
      for (;;) {
        const own = held.get(endpoint) ?? 0;
        if (!of.fits(1, own, held.size)) break;
        held.set(endpoint, own + 1);
        of.add({ bytes: 1 });
      }
    }
    expect(held.get(0)).toBe(9000);
    expect([...held.values()].every((own) => own > 0)).toBe(true);
    expect(of.fits(1, 0, held.size)).toBe(true);
  });

  it('leaves half of the room when many dead letters are put back, and none of it for one', () => {
    const of = level();
    of.begin('a', 100);
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

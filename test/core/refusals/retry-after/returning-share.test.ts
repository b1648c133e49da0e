import { describe, expect, it } from 'vitest';
import { Arrivals } from '../../../../packages/core/src/refusals/returning-share.ts';
import { exponential, seeded } from '../../harness.ts';

const DRAIN_RATE = 100;

/** Notes deliveries at random, so many a second. */
function arrive(arrivals: Arrivals, fromS: number, toS: number, perSecond: number, random = seeded(1)): void {
  for (let ms = fromS * 1000; ;) {
    ms += exponential(random, 1000 / perSecond);
    if (ms >= toS * 1000) return;
    arrivals.note(ms);
  }
}

/** Lets so many bookings come due each second. */
function comeDue(arrivals: Arrivals, fromS: number, toS: number, perSecond: number): void {
  for (let s = fromS; s < toS; s += 1) arrivals.noteDue(s * 1000, perSecond);
}

function freshPerSecond(arrivals: Arrivals): number {
  return (1 - arrivals.shareOfReturns(DRAIN_RATE)) * DRAIN_RATE;
}

describe('the share of the drain that returns can count on', () => {
  it('is all of it without history', () => {
    const arrivals = new Arrivals();
    expect(arrivals.shareOfReturns(DRAIN_RATE)).toBe(1);
    arrive(arrivals, 0, 3, 1000);
    arrivals.shed(3000, false);
    expect(arrivals.shareOfReturns(DRAIN_RATE)).toBe(1);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('is what fresh arrivals leave, seed %i', (seed) => {
    const arrivals = new Arrivals();
    arrive(arrivals, 0, 125, 60, seeded(seed));
    arrivals.shed(125_000, false);
    // One standard deviation more than the mean is taken on purpose.
    expect(freshPerSecond(arrivals)).toBeGreaterThan(57);
    expect(freshPerSecond(arrivals)).toBeLessThan(65);
  });

  it('does not count the onset of the burst, whenever in a bin it comes', () => {
    for (let onsetS = 120; onsetS < 130; onsetS += 1) {
      const arrivals = new Arrivals();
      arrive(arrivals, 0, onsetS, 60);
      arrive(arrivals, onsetS, onsetS + 3, 1000);
      arrivals.shed((onsetS + 3) * 1000, false);
      expect(freshPerSecond(arrivals), `from ${String(onsetS)} s`).toBeLessThan(66);
    }
  });

  it('is at least a quarter, and all of it after a long silence', () => {
    const busy = new Arrivals();
    arrive(busy, 0, 100, 500);
    busy.shed(100_000, false);
    expect(busy.shareOfReturns(DRAIN_RATE)).toBe(0.25);

    const silent = new Arrivals();
    arrive(silent, 0, 100, 50);
    silent.note(3_600_000);
    silent.shed(3_600_500, false);
    expect(silent.shareOfReturns(DRAIN_RATE)).toBe(1);
  });

  it('is kept during a burst and learned anew after a minute without one', () => {
    const arrivals = new Arrivals();
    arrive(arrivals, 0, 100, 30);
    arrivals.shed(100_000, false);
    const learned = freshPerSecond(arrivals);
    arrive(arrivals, 100, 155, 400);
    for (let s = 100; s < 155; s += 5) arrivals.shed(s * 1000, true);
    arrivals.shed(155_000, false);
    expect(freshPerSecond(arrivals)).toBe(learned);

    // Returns are still to come: it is the same burst.
    arrivals.shed(216_000, true);
    expect(freshPerSecond(arrivals)).toBe(learned);

    arrive(arrivals, 216, 230, 60);
    arrivals.shed(230_000, false);
    expect(freshPerSecond(arrivals)).toBe(learned);
    arrive(arrivals, 230, 310, 60);
    arrivals.shed(310_000, false);
    expect(freshPerSecond(arrivals)).toBeGreaterThan(55);
  });

  it('does not take returns for fresh arrivals', () => {
    const arrivals = new Arrivals();
    arrive(arrivals, 0, 100, 30);
    arrivals.shed(100_000, false);
    const learned = freshPerSecond(arrivals);
    // Shedding is over, and those who were refused come back for two minutes more: 70/s beside the fresh 30/s.
    arrive(arrivals, 100, 230, 100);
    comeDue(arrivals, 105, 229, 70);
    arrivals.shed(231_000, false);
    expect(freshPerSecond(arrivals)).toBe(learned);
  });
});

describe('the share of bookings that are kept', () => {
  it('is 1 until a hundred bookings came due', () => {
    const arrivals = new Arrivals();
    expect(arrivals.shareKept()).toBe(1);
    comeDue(arrivals, 0, 9, 10);
    expect(arrivals.shareKept()).toBe(1);
  });

  it('is 1 when they come back', () => {
    const arrivals = new Arrivals();
    for (let s = 0; s < 120; s += 1) {
      arrive(arrivals, s, s + 1, 70, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBe(1);
  });

  it('falls to a quarter when nobody comes, and recovers with those who do', () => {
    const arrivals = new Arrivals();
    comeDue(arrivals, 0, 60, 70);
    expect(arrivals.shareKept()).toBe(0.25);
    for (let s = 60; s < 180; s += 1) {
      arrive(arrivals, s, s + 1, 70, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBe(1);
  });

  it('does not count fresh arrivals as returns', () => {
    const arrivals = new Arrivals();
    arrive(arrivals, 0, 100, 30);
    arrivals.shed(100_000, false);
    for (let s = 100; s < 250; s += 1) {
      arrive(arrivals, s, s + 1, 30, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBeLessThan(0.35);
  });

  it('is not covered up by a flood for longer than that lasts', () => {
    const arrivals = new Arrivals();
    arrive(arrivals, 0, 100, 30);
    arrivals.shed(100_000, false);
    // While it lasts nobody can tell who has come back.
    for (let s = 100; s < 130; s += 1) {
      arrive(arrivals, s, s + 1, 530, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBe(1);
    for (let s = 130; s < 155; s += 1) {
      arrive(arrivals, s, s + 1, 30, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBeLessThan(0.6);
  });

  it.each([0, 3600, 1_700_000_000])('is not misled by an idle time of %i s', (idleS) => {
    const arrivals = new Arrivals();
    arrivals.noteDue(idleS * 1000, 0);
    arrive(arrivals, idleS, idleS + 100, 30);
    arrivals.noteDue((idleS + 100) * 1000, 0);
    arrivals.shed((idleS + 100) * 1000, false);
    for (let s = idleS + 100; s < idleS + 130; s += 1) {
      arrive(arrivals, s, s + 1, 100, seeded(s));
      arrivals.noteDue((s + 1) * 1000, 70);
    }
    expect(arrivals.shareKept()).toBe(1);
  });
});

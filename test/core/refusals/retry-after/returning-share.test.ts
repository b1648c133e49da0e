import { describe, expect, it } from 'vitest';
import { ReturningShare } from '../../../../packages/core/src/refusals/returning-share.ts';
import { exponential, seeded } from '../../harness.ts';

const DRAIN_RATE = 100;

/** Notes random arrivals at this rate. */
function arrive(
  returning: ReturningShare,
  fromS: number,
  toS: number,
  perSecond: number,
  random = seeded(1),
): void {
  for (let ms = fromS * 1000; ;) {
    ms += exponential(random, 1000 / perSecond);
    if (ms >= toS * 1000) return;
    returning.noteArrival(ms);
  }
}

/** Notes this many due bookings per second. */
function noteDueBookings(returning: ReturningShare, fromS: number, toS: number, perSecond: number): void {
  for (let s = fromS; s < toS; s += 1) returning.noteDue(s * 1000, perSecond);
}

function freshPerSecond(returning: ReturningShare): number {
  return (1 - returning.shareForRetries(DRAIN_RATE)) * DRAIN_RATE;
}

describe('the share of the drain rate left for retries', () => {
  it('is 1 without history', () => {
    const returning = new ReturningShare();
    expect(returning.shareForRetries(DRAIN_RATE)).toBe(1);
    arrive(returning, 0, 3, 1000);
    returning.shed(3000, false);
    expect(returning.shareForRetries(DRAIN_RATE)).toBe(1);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('is what first attempts leave, seed %i', (seed) => {
    const returning = new ReturningShare();
    arrive(returning, 0, 125, 60, seeded(seed));
    returning.shed(125_000, false);
    // The rate is one standard deviation above the mean on purpose.
    expect(freshPerSecond(returning)).toBeGreaterThan(57);
    expect(freshPerSecond(returning)).toBeLessThan(65);
  });

  it('leaves out the onset of the burst, at any time within a bin', () => {
    for (let onsetS = 120; onsetS < 130; onsetS += 1) {
      const returning = new ReturningShare();
      arrive(returning, 0, onsetS, 60);
      arrive(returning, onsetS, onsetS + 3, 1000);
      returning.shed((onsetS + 3) * 1000, false);
      expect(freshPerSecond(returning), `from ${String(onsetS)} s`).toBeLessThan(66);
    }
  });

  it('is at least a quarter, and 1 after a long silence', () => {
    const busy = new ReturningShare();
    arrive(busy, 0, 100, 500);
    busy.shed(100_000, false);
    expect(busy.shareForRetries(DRAIN_RATE)).toBe(0.25);

    const silent = new ReturningShare();
    arrive(silent, 0, 100, 50);
    silent.noteArrival(3_600_000);
    silent.shed(3_600_500, false);
    expect(silent.shareForRetries(DRAIN_RATE)).toBe(1);
  });

  it('stays the same during a burst and is relearned after a minute without one', () => {
    const returning = new ReturningShare();
    arrive(returning, 0, 100, 30);
    returning.shed(100_000, false);
    const learned = freshPerSecond(returning);
    arrive(returning, 100, 155, 400);
    for (let s = 100; s < 155; s += 5) returning.shed(s * 1000, true);
    returning.shed(155_000, false);
    expect(freshPerSecond(returning)).toBe(learned);

    // Bookings are still ahead, so it is the same burst.
    returning.shed(216_000, true);
    expect(freshPerSecond(returning)).toBe(learned);

    arrive(returning, 216, 230, 60);
    returning.shed(230_000, false);
    expect(freshPerSecond(returning)).toBe(learned);
    arrive(returning, 230, 310, 60);
    returning.shed(310_000, false);
    expect(freshPerSecond(returning)).toBeGreaterThan(55);
  });

  it('does not take retries for first attempts', () => {
    const returning = new ReturningShare();
    arrive(returning, 0, 100, 30);
    returning.shed(100_000, false);
    const learned = freshPerSecond(returning);
    // Shedding has ended, and refused deliveries retry for two more minutes: 70/s in addition to 30/s first attempts.
    arrive(returning, 100, 230, 100);
    noteDueBookings(returning, 105, 229, 70);
    returning.shed(231_000, false);
    expect(freshPerSecond(returning)).toBe(learned);
  });
});

describe('the share of kept bookings', () => {
  it('is 1 until a hundred bookings have come due', () => {
    const returning = new ReturningShare();
    expect(returning.shareKept()).toBe(1);
    noteDueBookings(returning, 0, 9, 10);
    expect(returning.shareKept()).toBe(1);
  });

  it('is 1 when all senders retry', () => {
    const returning = new ReturningShare();
    for (let s = 0; s < 120; s += 1) {
      arrive(returning, s, s + 1, 70, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBe(1);
  });

  it('falls to a quarter without retries, and recovers with them', () => {
    const returning = new ReturningShare();
    noteDueBookings(returning, 0, 60, 70);
    expect(returning.shareKept()).toBe(0.25);
    for (let s = 60; s < 180; s += 1) {
      arrive(returning, s, s + 1, 70, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBe(1);
  });

  it('does not count first attempts as retries', () => {
    const returning = new ReturningShare();
    arrive(returning, 0, 100, 30);
    returning.shed(100_000, false);
    for (let s = 100; s < 250; s += 1) {
      arrive(returning, s, s + 1, 30, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBeLessThan(0.35);
  });

  it('is hidden by a flood no longer than the flood lasts', () => {
    const returning = new ReturningShare();
    arrive(returning, 0, 100, 30);
    returning.shed(100_000, false);
    // During the flood, retries cannot be distinguished.
    for (let s = 100; s < 130; s += 1) {
      arrive(returning, s, s + 1, 530, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBe(1);
    for (let s = 130; s < 155; s += 1) {
      arrive(returning, s, s + 1, 30, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBeLessThan(0.6);
  });

  it.each([0, 3600, 1_700_000_000])('is not misled by an idle time of %i s', (idleS) => {
    const returning = new ReturningShare();
    returning.noteDue(idleS * 1000, 0);
    arrive(returning, idleS, idleS + 100, 30);
    returning.noteDue((idleS + 100) * 1000, 0);
    returning.shed((idleS + 100) * 1000, false);
    for (let s = idleS + 100; s < idleS + 130; s += 1) {
      arrive(returning, s, s + 1, 100, seeded(s));
      returning.noteDue((s + 1) * 1000, 70);
    }
    expect(returning.shareKept()).toBe(1);
  });
});

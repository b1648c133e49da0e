import { manualClock } from '@webhook-backpressure/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('the manual clock', () => {
  it('does not move by itself', () => {
    const clock = manualClock(5000);
    expect(clock.now()).toBe(5000);
    clock.advance(0);
    expect(clock.now()).toBe(5000);
    clock.advance(1.5);
    expect(clock.now()).toBe(5001.5);
    expect(clock.advanceToNext()).toBe(false);
    expect(clock.now()).toBe(5001.5);
  });

  it('fires timers by due time, then by age, each at its own time', () => {
    const delays = fc.array(fc.nat(50), { maxLength: 60 });
    fc.assert(
      fc.property(delays, fc.nat(60), (ms, until) => {
        const clock = manualClock();
        const fired: [number, number][] = [];
        ms.forEach((delay, i) => clock.setTimeout(() => fired.push([clock.now(), i]), delay));
        clock.advance(until);
        const expected = ms
          .map((delay, i): [number, number] => [delay, i])
          .filter(([delay]) => delay <= until)
          .toSorted(([a, i], [b, j]) => a - b || i - j);
        expect(fired).toEqual(expected);
        expect(clock.pending).toBe(ms.length - expected.length);
        expect(clock.now()).toBe(until);
      }),
      { seed: 1 },
    );
  });

  it('fires timers set by a timer, if they are due on the way', () => {
    const clock = manualClock();
    const at: number[] = [];
    const again = (): void => {
      at.push(clock.now());
      clock.setTimeout(again, 10);
    };
    clock.setTimeout(again, 10);
    clock.advance(35);
    expect(at).toEqual([10, 20, 30]);
    expect(clock.pending).toBe(1);
  });

  it('clears a timer, and ignores one that has fired or does not exist', () => {
    const clock = manualClock();
    let fired = 0;
    const count = (): void => {
      fired += 1;
    };
    const cleared = clock.setTimeout(count, 10);
    const kept = clock.setTimeout(count, 10);
    clock.clearTimeout(cleared);
    clock.clearTimeout(cleared);
    expect(clock.pending).toBe(1);
    clock.advance(10);
    clock.clearTimeout(kept);
    clock.clearTimeout(undefined);
    expect({ fired, pending: clock.pending }).toEqual({ fired: 1, pending: 0 });
  });

  it('treats a negative delay as 0', () => {
    const clock = manualClock();
    let at = -1;
    clock.setTimeout(() => {
      at = clock.now();
    }, -50);
    clock.advance(0);
    expect(at).toBe(0);
  });

  it('advances to the next timer, one at a time', () => {
    const clock = manualClock();
    const at: number[] = [];
    for (const ms of [30, 10, 30]) clock.setTimeout(() => at.push(clock.now()), ms);
    expect(clock.advanceToNext()).toBe(true);
    expect(at).toEqual([10]);
    while (clock.advanceToNext());
    expect(at).toEqual([10, 30, 30]);
  });

  it('jumps without firing timers, and those it has passed fire late', () => {
    const clock = manualClock();
    const at: number[] = [];
    clock.setTimeout(() => at.push(clock.now()), 10);
    clock.jump(1000);
    expect(clock.now()).toBe(1000);
    expect(at).toEqual([]);
    clock.advance(0);
    expect(at).toEqual([1000]);
    clock.jump(-400);
    expect(clock.now()).toBe(600);
  });
});

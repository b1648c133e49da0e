import { describe, expect, it } from 'vitest';
import { Growth } from '../../../packages/observe/src/alarms/growth.ts';
import { seeded } from '../harness.ts';

const MINUTE_MS = 60_000;

/** Notes a depth every second, and returns how long it was growing at the end of each minute. */
function minutesOf(depthAt: (second: number) => number, minutes: number): number[] {
  const growth = new Growth(10 * MINUTE_MS, 0, 0);
  const grown: number[] = [];
  for (let second = 0; second <= minutes * 60; second += 1) {
    growth.note(depthAt(second), second * 1000);
    if (second > 0 && second % 60 === 0) grown.push(growth.grownMs(second * 1000));
  }
  return grown;
}

const isGrowing = (depthAt: (second: number) => number, minutes: number): boolean =>
  minutesOf(depthAt, minutes).some((grownMs) => grownMs > 0);

describe('a depth', () => {
  it('that has risen for ten minutes is growing, and one that has for nine is not', () => {
    const grown = minutesOf((second) => second / 10, 20);
    expect(grown.slice(0, 9)).toEqual(new Array(9).fill(0));
    expect(grown[10]).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(grown[19]).toBe((grown[10] ?? 0) + 9 * MINUTE_MS);
  });

  it('that rises slowly with waves on top is growing', () => {
    expect(isGrowing((second) => second / 6 + 15 * Math.sin(second / 5), 20)).toBe(true);
  });

  it('that rises during bursts and drains between them is not', () => {
    expect(isGrowing((second) => (second % 90) * 8, 120)).toBe(false);
    expect(isGrowing((second) => ((second % 90) * second) / 10, 120)).toBe(false);
  });

  it('that was 0 meanwhile has grown only since then', () => {
    const grown = minutesOf((second) => (second < 60 ? 50 : second < 61 ? 0 : 51 + second / 10), 14);
    expect(grown.findIndex((grownMs) => grownMs > 0)).toBe(10);
  });

  it('that falls after one burst is not', () => {
    expect(isGrowing((second) => Math.max(0, 1000 - second / 2), 60)).toBe(false);
  });

  it('that stays the same is not', () => {
    expect(isGrowing(() => 500, 60)).toBe(false);
    expect(isGrowing((second) => 500 + (second % 7), 60)).toBe(false);
  });

  it('that wavers at random around a mean is almost never', () => {
    const random = seeded(3);
    let falseAlarms = 0;
    for (let run = 0; run < 200; run += 1) {
      let depth = 100;
      const wavers = (): number => {
        depth += (100 - depth) / 60 + (random() - 0.5) * 20;
        return Math.max(0, depth);
      };
      if (isGrowing(wavers, 30)) falseAlarms += 1;
    }
    expect(falseAlarms).toBeLessThan(10);
  });

  it('that grew and is level is no longer growing after three to four minutes', () => {
    const grown = minutesOf((second) => Math.min(second, 900), 30);
    expect(grown[14]).toBeGreaterThan(0);
    expect(grown[16]).toBeGreaterThan(0);
    expect(grown.slice(19)).toEqual(new Array(11).fill(0));
  });

  it('that drains stops growing immediately', () => {
    const growth = new Growth(10 * MINUTE_MS, 0, 0);
    for (let second = 0; second <= 900; second += 1) growth.note(second, second * 1000);
    expect(growth.grownMs(900_000)).toBeGreaterThan(0);
    expect(growth.from).toBeLessThan(301);
    growth.note(0, 901_000);
    expect(growth.grownMs(901_000)).toBe(0);
  });

  it('that nothing changes is level, although it is not noted', () => {
    const growth = new Growth(10 * MINUTE_MS, 0, 0);
    for (let second = 0; second <= 480; second += 1) growth.note(second, second * 1000);
    growth.note(480, 3_600_000);
    expect(growth.grownMs(3_600_000)).toBe(0);
  });
});

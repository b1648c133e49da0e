import { expect, it } from 'vitest';
import { BookedSeconds } from '../../../packages/core/src/refusals/booked-seconds.ts';

/** Retries that are booked at these seconds. */
function booked(...seconds: readonly number[]): BookedSeconds {
  const booked = new BookedSeconds();
  for (const second of seconds) booked.add(second * 1000 + 999);
  return booked;
}

/** The steps that are not 0, with their indices. */
function stepsOf(seconds: BookedSeconds): readonly (readonly [step: number, count: number])[] {
  expect(seconds.ahead()).toHaveLength(90);
  return [...seconds.ahead().entries()].filter(([, count]) => count > 0);
}

it('shows the retries of the next 15 minutes in steps of 10 s, and the current second in the first one', () => {
  const seconds = booked(99, 100, 101, 110, 110, 111, 120, 121, 1000, 1001);
  seconds.advance(100_999);
  expect(stepsOf(seconds)).toEqual([
    [0, 4],
    [1, 2],
    [2, 1],
    [89, 1],
  ]);
});

it('counts retries until their second has passed', () => {
  const seconds = booked(10, 10, 11, 12, 100, 100);
  expect(seconds.total).toBe(6);
  const totals = [10_000, 10_999, 11_000, 12_000, 13_000].map((nowMs) => {
    seconds.advance(nowMs);
    return seconds.total;
  });
  expect(totals).toEqual([6, 6, 4, 3, 2]);
  // After a pause that is longer than the number of seconds with retries.
  seconds.advance(100_000);
  expect([seconds.total, stepsOf(seconds)]).toEqual([2, [[0, 2]]]);
  seconds.advance(101_000);
  expect([seconds.total, stepsOf(seconds)]).toEqual([0, []]);
  seconds.add(101_000);
  expect([seconds.total, stepsOf(seconds)]).toEqual([1, [[0, 1]]]);
});

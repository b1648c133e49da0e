import { describe, expect, it } from 'vitest';
import { type Failure, parseHabit } from '@webhook-backpressure/planner/parts';

const answered = (retryAfterS: number, attempts = 1, status: 429 | 503 = 503): Failure => ({
  attempts,
  retryAfterS,
  status,
  ageS: 0,
});
const timedOut = (attempts: number): Failure => ({
  attempts,
  retryAfterS: undefined,
  status: undefined,
  ageS: 0,
});

/** The ends of the spread of ±20 %. */
function rangeOf(habit: string, failure: Failure): (number | undefined)[] {
  const wait = parseHabit('retry', habit);
  return [wait(failure, () => 0), wait(failure, () => 1)].map((s) =>
    s === undefined ? s : Number(s.toFixed(6)),
  );
}

describe('retry habits', () => {
  it.each<[string, Failure, (number | undefined)[]]>([
    ['retry-after', answered(12), [12, 12]],
    ['retry-after', timedOut(1), [4, 6]],
    ['retry-after', timedOut(3), [16, 24]],
    ['retry-after', timedOut(30), [2880, 4320]],
    ['retry-after:1,2', answered(12, 2), [12, 12]],
    ['retry-after:1,2', timedOut(2), [1.6, 2.4]],
    ['fixed:7.5', answered(12, 4), [7.5, 7.5]],
    ['exponential:5:2:3600', answered(1), [4, 6]],
    ['exponential:5:2:3600', answered(1, 4), [32, 48]],
    ['exponential:5:3:20', timedOut(9), [16, 24]],
    ['exponential:5:1:3600', answered(1, 1e9), [4, 6]],
    ['schedule:5,300,1800', answered(1), [4, 6]],
    ['schedule:5,300,1800', answered(1, 2), [240, 360]],
    ['schedule:5,300,1800', answered(1, 9), [1440, 2160]],
    ['svix', timedOut(1), [4, 6]],
    ['svix', answered(2), [4, 6]],
    ['svix', answered(7), [5.6, 8.4]],
    ['svix', answered(100), [8, 12]],
    ['svix', answered(100, 1, 429), [48, 72]],
    ['svix', answered(400, 2, 429), [320, 480]],
    ['svix', answered(1, 20), [28_800, 43_200]],
    ['none', answered(1), [undefined, undefined]],
  ])('wait as specified: %s after %j waits %j', (habit, failure, range) => {
    expect(rangeOf(habit, failure)).toEqual(range);
  });
});

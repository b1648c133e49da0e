import { describe, expect, it } from 'vitest';
import {
  bytes,
  count,
  duration,
  moment,
  percent,
  plural,
  rate,
  seconds,
} from '../../../packages/dashboard/page/data/format.ts';

describe('numbers on the page', () => {
  it.each([
    [null, '–'],
    [undefined, '–'],
    [NaN, '–'],
    [0, '0 ms'],
    [0.4, '<1 ms'],
    [340, '340 ms'],
    [999.7, '1 s'],
    [1234, '1.2 s'],
    [59_960, '1 min'],
    [119_900, '2 min'],
    [130_000, '2 min 10 s'],
    [3_599_900, '1 h'],
    [11_100_000, '3 h 5 min'],
    [86_399_000, '1 d'],
    [187_200_000, '2 d 4 h'],
  ])('writes %s ms as %s', (value, text) => {
    expect(duration(value)).toBe(text);
  });

  it('writes durations in seconds likewise', () => {
    expect([seconds(null), seconds(0), seconds(8), seconds(900)]).toEqual(['–', '0 s', '8 s', '15 min']);
  });

  it.each([
    [0, '0 %'],
    [0.0004, '<0.1 %'],
    [0.032, '3.2 %'],
    [0.624, '62 %'],
    [0.9996, '>99.9 %'],
    [0.995, '99.5 %'],
    [1, '100 %'],
  ])('writes the ratio %s as %s', (value, text) => {
    expect(percent(value)).toBe(text);
  });

  it('writes counts, rates and bytes', () => {
    expect([count(1234), count(123_456), count(null)]).toEqual(['1,234', '123.5K', '–']);
    expect([rate(0), rate(0.01), rate(0.44), rate(41.3)]).toEqual(['0/s', '<0.1/s', '0.4/s', '41/s']);
    expect([bytes(0), bytes(1023), bytes(1536), bytes(1024 ** 3)]).toEqual([
      '0 B',
      '1,023 B',
      '1.5 KiB',
      '1 GiB',
    ]);
    expect([plural(1, 'retry', 'retries'), plural(2, 'retry', 'retries')]).toEqual(['1 retry', '2 retries']);
  });

  it('writes an unknown moment as a dash', () => {
    expect([moment(undefined), moment('never')]).toEqual(['–', '–']);
  });
});

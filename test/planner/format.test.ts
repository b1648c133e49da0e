import { describe, expect, it } from 'vitest';
import { bytes, duration, percent } from '../../packages/planner/src/base/format.ts';
import { wrapped } from '../../packages/planner/src/output/terminal.ts';

describe('figures of the planner', () => {
  it.each([
    [null, '–'],
    [0, '0 ms'],
    [0.0004, '0 ms'],
    [0.374, '374 ms'],
    [0.9996, '1 s'],
    [9.94, '9.9 s'],
    [9.96, '10 s'],
    [299, '299 s'],
    [300, '5 min'],
    [7199, '120 min'],
    [7200, '2 h'],
  ])('show %s seconds as %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [0, '–'],
    [512, '512 bytes'],
    [1024, '1 KiB'],
    [22_000_000, '21 MiB'],
    [5e12, '4657 GiB'],
  ])('show %i bytes as %s', (count, text) => {
    expect(bytes(count)).toBe(text);
  });

  it.each([
    [0, 0, '0 %'],
    [0, 7, '0 %'],
    [1, 1000, '0.1 %'],
    [1, 3, '33 %'],
    [999, 1000, '100 %'],
    [1, 100_000, '< 0.1 %'],
  ])('show %i of %i as %s', (part, whole, text) => {
    expect(percent(part, whole)).toBe(text);
  });

  it('break lines between words', () => {
    expect(wrapped('- one two three', 9, '  ')).toEqual(['- one two', '  three']);
    expect(wrapped('unbreakable words', 5, '')).toEqual(['unbreakable', 'words']);
  });
});

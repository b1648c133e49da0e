import { describe, expect, it } from 'vitest';
import { bar, plainLine, queueLine } from '../../demo/src/drawing.ts';
import type { ReceiverTotals, SenderTotals } from '../../demo/src/messages.ts';
import { percentiles } from '../../demo/src/percentiles.ts';
import type { RunResult } from '../../demo/src/run.ts';
import { table } from '../../demo/src/table.ts';
import { brokenPromises } from '../../demo/src/verdict.ts';

const MIB = 2 ** 20;

function result(sender: Partial<SenderTotals> = {}, receiver: Partial<ReceiverTotals> = {}): RunResult {
  return {
    guarded: true,
    sender: {
      deliveries: 2800,
      delivered: 2800,
      lost: 0,
      attempts: 5600,
      maxAttempts: 3,
      maxRetryAfter: 9,
      answers: { 204: 2800, 503: 2800 },
      answerMs: { p50: 212.6, p99: 4037 },
      rejectionMs: { p50: 5, p99: null },
      deliveryMs: { p50: 6100, p99: 13_200 },
      seconds: 15.1,
      ...sender,
    },
    receiver: {
      sample: { depth: 0, bound: null, accepted: 2800, refused: 2800, failed: 0 },
      deepest: 800,
      capacity: 1000,
      stored: 2800,
      rss: 119 * MIB,
      ...receiver,
    },
    rssAtStart: 57 * MIB,
  };
}

describe('the verdict', () => {
  it.each([
    ['all is well', result(), 0],
    ['the queue was full to the brim', result({}, { deepest: 1000 }), 0],
    ['one was lost', result({ delivered: 2799, lost: 1 }, { stored: 2799 }), 1],
    ['the bound was passed', result({}, { deepest: 1001 }), 1],
    ['one was acknowledged and not stored', result({}, { stored: 2799 }), 1],
    ['all of it', result({ delivered: 2799, lost: 1 }, { stored: 2798, deepest: 1001 }), 3],
  ])('when %s', (_, one, broken) => {
    expect(brokenPromises(one)).toHaveLength(broken);
  });
});

describe('percentiles', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

  it.each([
    [hundred, 50, 99],
    [[7], 7, 7],
    [[3, 1], 1, 3],
    [[], null, null],
  ])('are values that were measured', (values, p50, p99) => {
    expect(percentiles(values)).toEqual({ p50, p99 });
  });
});

describe('the table', () => {
  const lines = table([
    { ...result({ answers: { 500: 6602, 204: 1893 } }, { deepest: 1882, capacity: null }), guarded: false },
    result(),
  ]).split('\n');
  const row = (label: string): string | undefined => lines.find((line) => line.startsWith(label));

  it('has a column for each run and a row for each kind of answer that was seen', () => {
    expect(lines[0]?.trim().split(/\s+/)).toEqual(['without', 'with']);
    expect(row('answers: 500')).toMatch(/ 6,602 +0$/);
    expect(row('answers: 503')).toMatch(/ 0 +2,800$/);
    expect(row('deepest queue')).toMatch(/ 1,882 \(no bound\) +800 of 1,000$/);
  });

  it('says the unit, and nothing where nothing was measured', () => {
    expect(row('attempts per delivery')).toMatch(/ 2\.00 +2\.00$/);
    expect(row('time to any answer, p50')).toMatch(/ 213 ms +213 ms$/);
    expect(row('time to a refusal or error, p99')).toMatch(/ – +–$/);
    expect(row('receiver RSS at the end')).toMatch(/ 119 MiB +119 MiB$/);
  });
});

describe('the progress', () => {
  const bound = { capacity: 1000, lowWater: 500, highWater: 800 };
  const moment = {
    title: 'with',
    seconds: 4.96,
    receiver: { depth: 650, bound, accepted: 1310, refused: 1402, failed: 0 },
    sender: { delivered: 650, lost: 0 },
    deliveredPerSecond: 200,
  };

  it('draws the depth against the two marks', () => {
    expect(bar(0, bound)).toBe(`[${'·'.repeat(20)}|${'·'.repeat(11)}|${'·'.repeat(7)}]`);
    expect(bar(650, bound)).toBe(`[${'█'.repeat(20)}|${'█'.repeat(5)}${'·'.repeat(6)}|${'·'.repeat(7)}]`);
    expect(bar(1000, bound)).toBe(`[${'█'.repeat(20)}|${'█'.repeat(11)}|${'█'.repeat(7)}]`);
    expect(bar(1001, null)).toBe(`[${'█'.repeat(40)}»`);
    expect(queueLine(moment)).toMatch(
      /^with {6}5\.0 s {2}\[.{40}\] 650 of 1,000 waiting, marks 500 and 800$/,
    );
  });

  it('says the same in a plain line', () => {
    expect(plainLine(moment)).toBe(
      'with      4 s  waiting 650 (marks 500 and 800)' +
        '  accepted 1,310  refused 1,402  failed 0  delivered 650 (200/s)  lost 0',
    );
  });
});

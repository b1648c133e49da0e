import { describe, expect, it } from 'vitest';
import { bar, plainLine, queueLine } from '../../demo/src/drawing.ts';
import type { ReceiverTotals, SenderTotals } from '../../demo/src/messages.ts';
import { percentiles } from '../../demo/src/percentiles.ts';
import type { RunResult } from '../../demo/src/run.ts';
import { fittingSize, IDEAL_WARM_UP_S, smallerSize } from '../../demo/src/size.ts';
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
    ['all went well', result(), 0],
    ['the queue was full', result({}, { deepest: 1000 }), 0],
    ['a delivery was lost', result({ delivered: 2799, lost: 1 }, { stored: 2799 }), 1],
    ['the bound was exceeded', result({}, { deepest: 1001 }), 1],
    ['a delivery got a 2xx and was not stored', result({}, { stored: 2799 }), 1],
    ['all of these', result({ delivered: 2799, lost: 1 }, { stored: 2798, deepest: 1001 }), 3],
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
  ])('are measured values', (values, p50, p99) => {
    expect(percentiles(values)).toEqual({ p50, p99 });
  });
});

describe('the table', () => {
  const lines = table([
    {
      ...result(
        {
          answers: { 500: 6602, 'timed out': 2, 204: 1893 },
          deliveryMs: { p50: null, p99: null },
          maxRetryAfter: 0,
        },
        { deepest: 1882, capacity: null },
      ),
      guarded: false,
    },
    result(),
  ]).split('\n');
  const row = (label: string): string | undefined => lines.find((line) => line.startsWith(label));

  it('has a column for each run and ten rows, lost deliveries first', () => {
    expect(lines[0]?.trim().split(/\s+/)).toEqual(['without', 'with']);
    expect(lines).toHaveLength(11);
    expect(lines[1]).toMatch(/^lost .* 0 +0$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('counts refusals apart from errors', () => {
    expect(row('errors and timeouts')).toMatch(/ 6,604 +0$/);
    expect(row('refused with Retry-After')).toMatch(/ 0 +2,800 \(1 to 9 s\)$/);
  });

  it('shows the unit, and a dash where nothing was measured', () => {
    expect(row('attempts per delivery')).toMatch(/ 2\.00, 3 +2\.00, 3$/);
    expect(row('time to be delivered')).toMatch(/ –, – +6\.1 s, 13\.2 s$/);
    expect(row('deepest queue')).toMatch(/ 1,882 \(no bound\) +800 of 1,000$/);
    expect(row('memory')).toMatch(/ 57 MiB, 119 MiB +57 MiB, 119 MiB$/);
  });
});

describe('the size of the import', () => {
  it.each([
    ['an idle machine', IDEAL_WARM_UP_S, 2800],
    ['a little noise', 1.3 * IDEAL_WARM_UP_S, 2800],
    ['a busy machine', 2 * IDEAL_WARM_UP_S, 1400],
    ['a machine that does something else', 20 * IDEAL_WARM_UP_S, 500],
  ])('fits %s', (_, warmUpS, size) => {
    expect(fittingSize(2800, warmUpS)).toBe(size);
  });

  it('never exceeds the size that was asked for', () => {
    expect(fittingSize(300, 20 * IDEAL_WARM_UP_S)).toBe(300);
  });

  it('has a smaller one for a run that took too long, down to 500', () => {
    expect([smallerSize(2800), smallerSize(700), smallerSize(500)]).toEqual([700, 500, undefined]);
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
    expect(queueLine(moment)).toMatch(/^with {6}5\.0 s {2}\[.{40}\] 650 of 1,000 queued$/);
  });

  it('shows the same in a plain line', () => {
    expect(plainLine(moment)).toBe(
      'with      4 s  queued 650  delivered 650 (200/s)  refused 1,402  errors 0  lost 0',
    );
  });
});

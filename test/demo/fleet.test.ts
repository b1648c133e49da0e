import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLedger } from '../../demo/src/fleet-ledger.ts';
import { brokenFleetPromises, FleetProgress, fleetTable, MAX_REPEATS } from '../../demo/src/fleet-report.ts';
import type { FleetResult } from '../../demo/src/fleet-run.ts';

function result(of: Partial<FleetResult> = {}): FleetResult {
  return {
    sender: {
      deliveries: 4000,
      delivered: 4000,
      lost: 0,
      attempts: 6000,
      maxAttempts: 4,
      maxRetryAfter: 9,
      answers: { 200: 4000, 503: 2000 },
      answerMs: { p50: 212.6, p99: 4037 },
      rejectionMs: { p50: 5, p99: null },
      deliveryMs: { p50: 6100, p99: 13_200 },
      seconds: 15.1,
    },
    deaths: 3,
    repeats: { afterKill: 3, otherwise: 1 },
    completed: 4000,
    missing: 0,
    deepest: 812,
    seconds: 17.9,
    ...of,
  };
}

describe('the ledger of a fleet', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wbp-ledger-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('attributes a repeat to the death of the process that handled the delivery before', () => {
    const path = join(folder, 'handled.txt');
    writeFileSync(path, 'warm_a 1\na 1\nb 2\na 2\nb 3\nc 1\n');
    const { handled, repeats } = readLedger(path, new Set([1]));
    expect([[...handled], repeats]).toEqual([['a', 'b', 'c'], { afterKill: 1, otherwise: 1 }]);
  });

  it('is empty before the first delivery', () => {
    expect(readLedger(join(folder, 'none.txt'), new Set()).handled.size).toBe(0);
  });
});

describe('the report of a fleet', () => {
  it('shows what was acknowledged, completed, lost and handled twice, and why', () => {
    const lines = fleetTable(result()).split('\n');
    expect(lines.slice(0, 6).map((line) => line.split(/ {3,}/))).toEqual([
      ['acknowledged', '4,000 of 4,000'],
      ['completed', '4,000'],
      ['lost', '0'],
      ['handled twice', '4'],
      ['  because a worker was killed', '3'],
      ['  because the database was stopped', '1'],
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each([
    ['all went well', result(), 0],
    ['the sender gave up a delivery', result({ sender: { ...result().sender, lost: 1 } }), 1],
    ['an acknowledged delivery was never handled', result({ missing: 1 }), 1],
    ['one was handled and is not completed', result({ completed: 3999 }), 1],
    [
      'more were handled twice than deaths explain',
      result({ repeats: { afterKill: MAX_REPEATS, otherwise: 1 } }),
      1,
    ],
  ])('when %s', (_, one, broken) => {
    expect(brokenFleetPromises(one)).toHaveLength(broken);
  });

  it('writes a line a second, each death and each return', () => {
    const lines: string[] = [];
    let nowMs = 1000;
    const progress = new FleetProgress(
      (line) => lines.push(line),
      () => nowMs,
    );
    progress.moment({ acknowledged: 0, waiting: 0, handled: 0 });
    nowMs = 1900;
    progress.moment({ acknowledged: 1, waiting: 0, handled: 0 });
    progress.death('worker 2');
    nowMs = 3000;
    progress.moment({ acknowledged: 1200, waiting: undefined, handled: 700 });
    progress.death('worker 2', 1234);
    expect(lines).toEqual([
      'fleet     0 s  acknowledged 0  queued 0  handled 0',
      'killed    0 s  worker 2',
      'fleet     2 s  acknowledged 1,200  no database  handled 700',
      'back      2 s  worker 2, after 1.2 s',
    ]);
  });
});

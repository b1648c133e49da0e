import { describe, expect, it } from 'vitest';
import { BURST_S, FIRST_BURST_S, rateAt, STREAMS } from '../../demo/src/waves.ts';
import { POOL } from '../../demo/src/setup.ts';

const PATHS = ['/webhooks', '/inbox'] as const;
const HANDLED_PER_SECOND = POOL.max / ((POOL.queryFromMs + POOL.queryToMs) / 2000);

function totalAt(path: string, seconds: number): number {
  const streams = STREAMS.filter((stream) => stream.path === path);
  return streams.reduce((sum, stream) => sum + rateAt(stream, seconds), 0);
}

describe.each(PATHS)('the load of %s', (path) => {
  it('fits the workers between the bursts, and exceeds them in a burst', () => {
    for (const calm of [0, FIRST_BURST_S - 0.1, FIRST_BURST_S + BURST_S, FIRST_BURST_S + 59.9])
      expect(totalAt(path, calm)).toBeLessThan(0.7 * HANDLED_PER_SECOND);
    for (const burst of [FIRST_BURST_S, FIRST_BURST_S + BURST_S - 0.1, FIRST_BURST_S + 60])
      expect(totalAt(path, burst)).toBeGreaterThan(1.3 * HANDLED_PER_SECOND);
  });

  it('is handled within its period, so that the demo can run for days', () => {
    const seconds = Array.from({ length: 60 }, (_, second) => second);
    const arriving = seconds.reduce((sum, second) => sum + totalAt(path, second), 0);
    expect(arriving).toBeLessThan(0.8 * 60 * HANDLED_PER_SECOND);
  });
});

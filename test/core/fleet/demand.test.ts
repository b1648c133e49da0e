import { expect, it } from 'vitest';
import { SmoothedDemand } from '../../../packages/fleet/src/shares.ts';

it('reports a rise, and a fall only if it is large enough to move shares', () => {
  const demand = new SmoothedDemand();
  const reported = (wanted: number, nowMs: number): number => {
    demand.note(wanted, nowMs);
    return demand.report(320, 320);
  };
  expect(reported(200, 0)).toBe(200);
  // One step is 10 of 320.
  expect(reported(0, 300)).toBe(200);
  expect(reported(201, 300)).toBe(210);
  expect(reported(0, 600_000)).toBe(0);
});

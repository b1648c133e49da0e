import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

const WEEK_MS = 7 * 86_400_000;

describe('a wall clock that jumps ahead', () => {
  it('makes no event too old, and disables no endpoint', async () => {
    let aheadMs = 0;
    let status = 500;
    const clock = manualClock();
    const wallClock = (): number => Date.UTC(2026, 0, 1) + aheadMs + clock.now();
    const bed = new SenderBed(() => new Response(null, { status }), { wallClock }, clock);
    await bed.send('1');
    await bed.run(1000);
    aheadMs = WEEK_MS;
    await bed.run(30_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 1, totals: { dead: 0, disabled: 0 } });
    status = 204;
    await bed.run(60_000, 500);
    const delivered = bed.events.find(({ type }) => type === 'delivered');
    expect(delivered).toMatchObject({ latencyMs: expect.toSatisfy((ms: number) => ms < 200_000) as unknown });
  });
});

import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

async function sendAll(bed: SenderBed, count: number, endpoint = 'a'): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => bed.send(`${endpoint}${String(n)}`, endpoint)));
}

describe('the limits of an endpoint', () => {
  it('starts a burst, and then no more than the rate', async () => {
    const bed = new SenderBed(undefined, {
      limits: { rate: { perSecond: 10 }, burst: 20, maxInFlight: 100 },
    });
    await sendAll(bed, 100);
    await bed.run(100, 10);
    expect(bed.requests.length).toBeGreaterThanOrEqual(20);
    expect(bed.requests.length).toBeLessThanOrEqual(21);
    await bed.run(9000, 10);
    expect(bed.requests).toHaveLength(100);
    for (const [n, { atMs }] of bed.requests.entries()) expect(atMs).toBeGreaterThanOrEqual((n - 20) * 100);
    expect(bed.sender.endpoints.get('a')?.audit).toMatchObject({ excess: 0 });
  });

  it('keeps the in-flight limit', async () => {
    const bed = new SenderBed(
      async () => {
        await bed.later(500);
        return new Response(null, { status: 204 });
      },
      { limits: { rate: { perSecond: 1000 }, maxInFlight: 3 } },
    );
    await sendAll(bed, 30);
    await bed.run(5500);
    expect(bed.mostInFlight).toBe(3);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 30 } });
  });

  it('is not slowed down by an endpoint that hangs', async () => {
    const bed = new SenderBed(
      ({ url }) =>
        url.includes('//hangs.') ? new Promise<never>(() => undefined) : new Response(null, { status: 204 }),
      { limits: { rate: { perSecond: 100 } } },
    );
    await sendAll(bed, 500, 'hangs');
    await sendAll(bed, 500, 'works');
    await bed.run(5000);
    expect(bed.sender.endpoints.get('works')).toMatchObject({ queued: 0 });
    expect(bed.sender.snapshot().totals.delivered).toBe(500);
    expect(bed.sender.endpoints.get('hangs')?.inFlight).toBeLessThanOrEqual(10);
  });

  it('delivers strictly in order if asked to', async () => {
    let failures = 0;
    const bed = new SenderBed(
      async ({ id }) => {
        await bed.later(30);
        if (id !== 'a3' || failures >= 2) return new Response(null, { status: 204 });
        failures += 1;
        return new Response(null, { status: 408 });
      },
      { limits: { ordered: true, rate: { perSecond: 1000 } }, retry: { firstDelayMs: 2000 } },
    );
    await sendAll(bed, 10);
    await bed.run(20_000);
    const ids = bed.requests.map(({ id }) => id);
    expect(bed.mostInFlight).toBe(1);
    expect(ids).toEqual(['a0', 'a1', 'a2', 'a3', 'a3', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9']);
  });

  it('does not start above a rate that an operator has set', async () => {
    const bed = new SenderBed(undefined, { limits: { rate: { perSecond: 1 }, burst: 1 } });
    await sendAll(bed, 30);
    await bed.run(1000);
    bed.sender.endpoints.setRate('a', { perSecond: 10 });
    await bed.run(2000);
    expect(bed.requests.length).toBeGreaterThanOrEqual(20);
    bed.sender.endpoints.setRate('a', null);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ setRatePerSecond: 1 });
  });

  it('stops and continues when an operator says so', async () => {
    const bed = new SenderBed();
    await bed.sender.endpoints.pause('a');
    await sendAll(bed, 3);
    await sendAll(bed, 1, 'b');
    await bed.run(10_000);
    expect(bed.requests.map(({ id }) => id)).toEqual(['b0']);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'paused', queued: 3 });
    await bed.sender.endpoints.resume('a');
    await bed.run(1000);
    expect(bed.requests).toHaveLength(4);
  });
});

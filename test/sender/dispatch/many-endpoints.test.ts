import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

/** 100,000 take a minute on a busy machine and show the same. */
const ENDPOINTS = 1000;

async function sendOneToEach(bed: SenderBed): Promise<void> {
  const sends = Array.from({ length: ENDPOINTS }, (_, n) => bed.send('1', `ep-${String(n)}`));
  await bed.settle(60);
  await Promise.all(sends);
}

describe('with thousands of endpoints', () => {
  it('delivers one event to each, and keeps little of them', async () => {
    const bed = new SenderBed(undefined, { capacity: ENDPOINTS });
    await sendOneToEach(bed);
    await bed.run(2000, 200);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: ENDPOINTS } });
    expect(bed.sender.snapshot().states).toMatchObject({ active: 0 });
    // One timer for the rest: nothing is left to do for an endpoint.
    expect(bed.clock.pending).toBeLessThanOrEqual(5);
  });

  it('has at most 10,000 requests in flight, and goes on when some have ended', async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const bed = new SenderBed(() => opened.then(() => new Response(null, { status: 204 })));
    const sends: Promise<unknown>[] = [];
    for (let n = 0; n < 10_100; n += 1) sends.push(bed.send(String(n), `ep-${String(n)}`));
    await bed.settle(400);
    await Promise.all(sends);
    expect(bed.sender.snapshot().inFlight).toBe(10_000);
    open();
    await bed.run(2000, 100);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 10_100 } });
  });

  it('finds the events of all of them after a restart', async () => {
    const store = memoryStore();
    const first = new SenderBed(undefined, {
      store,
      capacity: ENDPOINTS,
      endpoint: () => Promise.reject(new Error('no database')),
    });
    await sendOneToEach(first);
    expect(first.requests).toEqual([]);
    const closed = first.sender.close({ timeoutMs: 0 });
    await first.run(3000, 500);
    await closed;

    const next = new SenderBed(undefined, { store, capacity: ENDPOINTS }, first.clock);
    for (let turn = 0; turn < 200 && next.requests.length < ENDPOINTS; turn += 1) await next.run(50);
    expect(next.requests).toHaveLength(ENDPOINTS);
    await next.run(1000);
    expect(next.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: ENDPOINTS } });
  });
});

import { describe, expect, it } from 'vitest';
import { SenderBed, type SeenRequest } from './bed.ts';

const delivered = (): Response => new Response(null, { status: 204 });

/** Never answers endpoints whose id begins with `slow`. */
function hangingIfSlow({ url }: SeenRequest): Response | Promise<Response> {
  return url.includes('slow') ? new Promise<never>(() => undefined) : delivered();
}

/** Sends as many events to each of some endpoints as asked. */
async function sendEach(bed: SenderBed, name: string, endpoints: number, events: number): Promise<void> {
  const sends: Promise<unknown>[] = [];
  for (let n = 0; n < endpoints * events; n += 1)
    sends.push(bed.send(`${name}-${String(n)}`, `${name}${String(n % endpoints)}`));
  await Promise.all(sends);
}

function requestsTo(bed: SenderBed, name: string): number {
  return bed.requests.filter(({ url }) => url.includes(name)).length;
}

describe('places in flight', () => {
  it('are left for others by endpoints that answer slowly', async () => {
    const bed = new SenderBed(hangingIfSlow, { limits: { rate: { perSecond: 1000 } } });
    await sendEach(bed, 'slow', 1300, 8);
    await bed.settle(400);
    // 8 each would be more than there are. One each is always possible.
    const { inFlight } = bed.sender.snapshot();
    expect(inFlight).toBeGreaterThanOrEqual(9000);
    expect(inFlight).toBeLessThanOrEqual(9300);
    await sendEach(bed, 'ep', 100, 1);
    await bed.settle(40);
    expect(bed.sender.snapshot()).toMatchObject({ inFlight, totals: { delivered: 100 } });
  });
});

describe('endpoints that are due together', () => {
  it('start a few requests in a turn, so that answers are not late', async () => {
    const bed = new SenderBed(hangingIfSlow, { limits: { rate: { perSecond: 1000 } } });
    await sendEach(bed, 'slow', 500, 8);
    let most = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const before = bed.requests.length;
      await bed.settle(1);
      most = Math.max(most, bed.requests.length - before);
    }
    expect(bed.requests).toHaveLength(4000);
    expect(most).toBeLessThanOrEqual(128);
  });

  it('take turns by single requests', async () => {
    const bed = new SenderBed(delivered, { limits: { rate: { perSecond: 1000 } } });
    await sendEach(bed, 'slow', 300, 1);
    await bed.settle(60);
    bed.answer = hangingIfSlow;
    for (let n = 0; n < 2400; n += 1) void bed.send(`next-${String(n)}`, `slow${String(n % 300)}`);
    for (let turn = 0; turn < 40; turn += 1) {
      await bed.settle(1);
      bed.clock.advance(1);
    }
    const next = bed.requests.slice(300, 600);
    expect(next).toHaveLength(300);
    expect(new Set(next.map(({ url }) => url)).size).toBeGreaterThan(250);
  });

  it('go behind one that keeps up', async () => {
    const bed = new SenderBed(delivered, { limits: { rate: { perSecond: 1000 } } });
    await bed.send('first', 'healthy');
    await bed.settle();
    bed.answer = hangingIfSlow;
    await sendEach(bed, 'slow', 500, 9);
    const before = bed.requests.length;
    await bed.send('second', 'healthy');
    await bed.settle(6);
    const at = bed.requests.findIndex(({ id }) => id === 'second');
    expect(at).toBeGreaterThan(0);
    expect(at - before).toBeLessThan(300);
    expect(requestsTo(bed, 'slow')).toBeGreaterThan(0);
  });
});

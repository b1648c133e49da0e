import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { SenderBed } from '../dispatch/bed.ts';

const delivered = (): Response => new Response(null, { status: 204 });

/** Answers 429 for the endpoint `stuck`, and delivers all others. */
function waiting({ url }: { readonly url: string }): Response {
  if (!url.includes('stuck')) return delivered();
  return new Response(null, { status: 429, headers: { 'retry-after': '3600' } });
}

/** Sends events of an endpoint. Returns how many were accepted until now, and refused. */
async function send(
  bed: SenderBed,
  endpoint: string,
  count: number,
): Promise<{ accepted: number; refused: number }> {
  const result = { accepted: 0, refused: 0 };
  for (let n = 0; n < count; n += 1) {
    bed.send(`${endpoint}-${String(n)}`, endpoint).then(
      () => (result.accepted += 1),
      () => (result.refused += 1),
    );
  }
  await bed.settle(60);
  return result;
}

describe('an endpoint that waits', () => {
  it('leaves room for the others', async () => {
    const bed = new SenderBed(waiting, { capacity: 1000 });
    const stuck = await send(bed, 'stuck', 1200);
    expect(stuck.accepted).toBe(900);
    const others: { accepted: number }[] = [];
    for (let n = 0; n < 100; n += 1) others.push(await send(bed, `ep-${String(n)}`, 1));
    expect(others.every(({ accepted }) => accepted === 1)).toBe(true);
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({
      depth: 900,
      waitingSends: 300,
      totals: { delivered: 100 },
    });
    expect(stuck.accepted).toBe(900);
  });

  it('is refused alone', async () => {
    const bed = new SenderBed(waiting, { capacity: 100, whenFull: 'refuse' });
    await expect(send(bed, 'stuck', 120)).resolves.toEqual({ accepted: 90, refused: 30 });
    await expect(send(bed, 'other', 1)).resolves.toEqual({ accepted: 1, refused: 0 });
    await expect(bed.send('more', 'stuck')).rejects.toThrow('90 of them for the endpoint');
  });

  it('still holds its share after a restart', async () => {
    const store = memoryStore();
    const first = new SenderBed(waiting, { capacity: 100, store });
    void send(first, 'stuck', 90);
    await first.settle(60);
    const closed = first.sender.close();
    await first.run(3000);
    await closed;
    const next = new SenderBed(waiting, { capacity: 100, store, whenFull: 'refuse' }, first.clock);
    await next.sender.opened;
    await expect(send(next, 'stuck', 10)).resolves.toEqual({ accepted: 0, refused: 10 });
    await expect(send(next, 'other', 1)).resolves.toEqual({ accepted: 1, refused: 0 });
  });

  it('does not keep calls for others waiting behind its own', async () => {
    const bed = new SenderBed(() => new Promise<never>(() => undefined), {
      capacity: 20,
      timeoutMs: 1000,
      limits: { maxInFlight: 1 },
    });
    // The two free places go to another endpoint, whose third call waits behind those of the first one.
    await send(bed, 'stuck', 30);
    const other = await send(bed, 'other', 3);
    expect(other.accepted).toBeLessThan(3);
    bed.answer = ({ url }) => (url.includes('stuck') ? new Promise<never>(() => undefined) : delivered());
    await bed.run(30_000);
    expect(other.accepted).toBe(3);
    expect(bed.sender.snapshot()).toMatchObject({ waitingSends: 12 });
  });
});

describe('endpoints that wait for room', () => {
  it('get it in turn', async () => {
    const bed = new SenderBed(() => new Promise<never>(() => undefined), {
      capacity: 10,
      timeoutMs: 1000,
      limits: { maxInFlight: 1, rate: { perSecond: 1000 } },
    });
    await send(bed, 'a', 9);
    const ended: string[] = [];
    for (const endpoint of ['a', 'b'])
      for (let n = 10; n < 14; n += 1)
        void bed.send(`${endpoint}-${String(n)}`, endpoint).then(() => ended.push(endpoint));
    await bed.settle();
    bed.answer = delivered;
    await bed.run(30_000);
    expect(ended).toHaveLength(8);
    expect(ended.indexOf('b')).toBeLessThan(2);
    expect(bed.sender.snapshot()).toMatchObject({ state: 'accepting', depth: 0, waitingSends: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import type { Buckets } from '@webhook-backpressure/fleet';
import { SenderBed } from '../dispatch/bed.ts';

const fine: Buckets = {
  take: (_, count) => ({ taken: count, waitMs: 0 }),
  use: (_, count) => count,
  giveBack: () => undefined,
  pause: () => undefined,
  peek: () => null,
  forget: () => undefined,
  processes: 1,
};
const thrown = (): never => {
  throw new Error('broken');
};
const rejected = (): never => Promise.reject(new Error('broken')) as never;

/** Buckets of which one method is broken, until `repair` is called. */
function broken(method: keyof Buckets, by: () => unknown): { buckets: Buckets; repair: () => void } {
  let isBroken = true;
  const works = fine as unknown as Record<string, (...args: unknown[]) => unknown>;
  const buckets = {
    ...fine,
    [method]: (...args: unknown[]) => (isBroken ? by() : works[method]?.(...args)),
  };
  return { buckets, repair: () => (isBroken = false) };
}

describe('buckets of a user', () => {
  const harmless = (['giveBack', 'pause', 'peek', 'forget', 'open', 'close'] as const).flatMap((method) => [
    [method, 'throws', thrown] as const,
    [method, 'rejects', rejected] as const,
  ]);

  it.each(harmless)('do no harm if %s %s', async (method, _, by) => {
    const { buckets } = broken(method, by);
    let status = 429;
    const bed = new SenderBed(
      () => new Response(null, { status, headers: status === 429 ? { 'retry-after': '2' } : {} }),
      { buckets },
    );
    await bed.send('1');
    await bed.run(1000);
    bed.sender.snapshot();
    status = 204;
    await bed.send('2');
    await bed.run(10_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 2 } });
    await bed.sender.close();
  });

  const nonsense = [undefined, null, NaN, -1, 'x', {}, { taken: NaN, waitMs: 0 }, { taken: 1, waitMs: NaN }];
  const failing = (['take', 'use'] as const).flatMap((method) => [
    [method, 'throws', thrown] as const,
    [method, 'rejects', rejected] as const,
    ...nonsense.map((value) => [method, `returns ${JSON.stringify(value)}`, () => value] as const),
  ]);

  it.each(failing)('grant nothing while %s %s, and are asked again', async (method, _, by) => {
    const { buckets, repair } = broken(method, by);
    const bed = new SenderBed(undefined, { buckets });
    await bed.send('1');
    await bed.run(5000);
    expect(bed.requests).toEqual([]);
    expect(bed.types().filter((type) => type === 'buckets-lost')).toHaveLength(1);
    repair();
    await bed.run(5000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 1 } });
    expect(bed.types()).toContain('buckets-restored');
    await bed.sender.close();
  });

  it('grant no more than was asked for', async () => {
    const buckets: Buckets = { ...fine, take: () => ({ taken: 1000, waitMs: 0 }), use: () => 1000 };
    const bed: SenderBed = new SenderBed(
      () => bed.later(100).then(() => new Response(null, { status: 204 })),
      {
        buckets,
        limits: { maxInFlight: 3 },
      },
    );
    await Promise.all(Array.from({ length: 30 }, (_, n) => bed.send(String(n))));
    await bed.run(5000);
    expect(bed.mostInFlight).toBe(3);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 30 } });
  });

  it('do not stop the sender if they say nonsense about processes', async () => {
    const bed = new SenderBed(undefined, { buckets: { ...fine, processes: NaN } });
    await bed.send('1');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ processes: 1, totals: { delivered: 1 } });
  });
});

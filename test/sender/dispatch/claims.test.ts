import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';
import { ClaimBed, LIMITS, NO_CONTENT } from './claim-bed.ts';
import { CountedBuckets } from './counted-buckets.ts';

describe('events that are claimed', () => {
  it('take a token each; tokens without an event are given back', async () => {
    const { bed, buckets } = new ClaimBed(async () => {
      await bed.later(500);
      return new Response(null, { status: 204 });
    });
    // Twice as many as the last time are wanted, of which only one is there.
    for (let n = 0; n < 10; n += 1) {
      await bed.send(`e${String(n)}`);
      await bed.run(200);
      expect(buckets.out).toBe(n + 1);
      expect(bed.requests).toHaveLength(n + 1);
    }
  });

  it('cost no token when the claim fails, and are claimed again', async () => {
    const { bed, buckets, gated } = new ClaimBed();
    await bed.settle();
    gated.fails = true;
    await bed.send('e0');
    await bed.settle();
    expect(bed.types()).toContain('store-failed');
    expect(buckets.out).toBe(0);
    await bed.run(2000);
    expect(bed.requests).toHaveLength(1);
    expect(buckets.out).toBe(1);
  });

  it('are given back when their tokens may not be used any more', async () => {
    const of = new ClaimBed();
    of.buckets.usable = 2;
    await of.claiming(0, 6);
    await of.claimed();
    expect(of.bed.requests.length).toBeLessThanOrEqual(2 * of.gated.claims.length);
    expect(of.buckets.out).toBe(of.bed.requests.length);
    await of.bed.run(5000);
    expect(of.bed.requests.map(({ id }) => id).sort()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5']);
    expect(of.buckets.out).toBe(6);
  });

  it('are found if they were stored during a claim', async () => {
    const of = new ClaimBed();
    await of.claiming(0, 1);
    await of.sendAll(1, 4);
    await of.bed.settle();
    // One want of an endpoint at a time.
    expect(of.gated.claims).toEqual([['a']]);
    await of.claimed();
    expect(of.bed.requests).toHaveLength(4);
  });

  it.each<[string, (of: ClaimBed) => unknown]>([
    ['an operator pauses the endpoint', ({ bed }) => bed.sender.endpoints.pause('a')],
    ['the sender closes', ({ bed }) => void bed.sender.close()],
  ])('are not sent, and cost no token, when %s during the claim', async (_, stop) => {
    const of = new ClaimBed();
    await of.claiming(0, 3);
    await stop(of);
    await of.claimed();
    await of.bed.run(1000);
    expect(of.bed.requests).toEqual([]);
    expect(of.buckets.out).toBe(0);
    expect(await of.gated.store.stats()).toMatchObject({ depth: 3, inFlight: 0 });
  });

  it.each<[string, number, Record<string, string>, number]>([
    ['asks to wait', 429, { 'retry-after': '60' }, 4],
    ['answers 410', 410, {}, 0],
  ])('are not sent when the endpoint %s during the claim', async (_, status, headers, depth) => {
    const of = new ClaimBed(async () => {
      await of.bed.later(1000);
      return new Response(null, { status, headers });
    });
    const { bed } = of;
    await of.sendAll(0, 1);
    await bed.run(500);
    await of.claiming(1, 4);
    await bed.run(1000);
    await of.claimed();
    await bed.run(20_000);
    expect(bed.requests).toHaveLength(1);
    expect(of.buckets.out).toBe(1);
    expect(bed.sender.snapshot().depth).toBe(depth);
  });

  it('are not sent when the endpoint begins to fail during the claim, apart from one probe at a time', async () => {
    const of = new ClaimBed(async () => {
      await of.bed.later(1000);
      return new Response(null, { status: 500 });
    });
    const { bed } = of;
    await of.sendAll(0, 5);
    await bed.run(500);
    await of.claiming(5, 8);
    await bed.run(1000);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'failing' });
    await of.claimed();
    await bed.run(1000);
    expect(bed.requests).toHaveLength(5);
    await bed.run(5000);
    expect(bed.requests).toHaveLength(6);
    expect(of.buckets.out).toBe(6);
  });

  it('are not sent, and cost no token, when the sender closes while tokens are asked for', async () => {
    const of = new ClaimBed();
    await of.bed.settle();
    let grant = (): void => undefined;
    of.buckets.gate = new Promise((resolve) => {
      grant = resolve;
    });
    await of.sendAll(0, 3);
    await of.bed.settle();
    const closed = of.bed.sender.close();
    grant();
    await of.bed.run(1000);
    await closed;
    expect(of.bed.requests).toEqual([]);
    expect(of.buckets.out).toBe(0);
  });

  it('are asked for no more often than tokens arrive', async () => {
    const of = new ClaimBed();
    of.buckets.tokens = 0;
    await of.sendAll(0, 1);
    await of.bed.run(2000);
    expect(of.buckets.calls).toBeGreaterThanOrEqual(10);
    expect(of.buckets.calls).toBeLessThanOrEqual(21);
    of.buckets.tokens = 1;
    await of.bed.run(200);
    expect(of.bed.requests).toHaveLength(1);
  });

  it('are claimed a few times a second while another process holds them', async () => {
    const of = new ClaimBed();
    of.gated.isBlocked = true;
    await of.sendAll(0, 1);
    await of.bed.run(5000);
    expect(of.gated.claims.length).toBeGreaterThanOrEqual(15);
    expect(of.gated.claims.length).toBeLessThanOrEqual(21);
    expect(of.buckets.out).toBe(0);
    of.gated.isBlocked = false;
    await of.bed.run(500);
    expect(of.bed.requests).toHaveLength(1);
  });

  it('are sent up to the in-flight limit, also if it was lowered during the claim', async () => {
    const of: ClaimBed = new ClaimBed(
      async () => {
        await of.bed.later(10);
        return new Response(null, { status: 204 });
      },
      { maxInFlight: 20 },
    );
    const { bed } = of;
    await Promise.all(Array.from({ length: 60 }, (_, n) => bed.send(`first${String(n)}`)));
    await bed.run(1000);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ maxInFlight: 20 });
    // Five failures in a row begin the slow start again.
    let failures = 5;
    bed.answer = async () => {
      const status = failures > 0 ? 408 : 204;
      failures -= 1;
      await bed.later(status === 408 ? 1000 : 60_000);
      return new Response(null, { status });
    };
    await of.sendAll(0, 12);
    await bed.run(100);
    expect(bed.inFlight).toBe(12);
    await of.claiming(12, 20);
    await bed.run(1000);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ maxInFlight: 8, inFlight: 7 });
    await of.claimed();
    await bed.run(1000);
    expect(bed.inFlight).toBe(8);
  });

  it('are sent later in the same batch, under the same id, when its repetition is not started', async () => {
    const of = new ClaimBed(() => new Response(null, { status: 429, headers: { 'retry-after': '5' } }), {
      batch: { maxEvents: 5, maxDelayMs: 0 },
    });
    const { bed } = of;
    await of.sendAll(0, 1);
    await bed.run(100);
    bed.answer = NO_CONTENT;
    await bed.run(10_000);
    bed.requests.length = 0;
    bed.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '5' } });
    await Promise.all(['x', 'y', 'z'].map((id) => bed.send(id)));
    await bed.run(1000);
    expect(bed.requests).toHaveLength(1);
    bed.answer = NO_CONTENT;
    of.gated.close();
    await bed.run(10_000);
    await bed.sender.endpoints.pause('a');
    await of.claimed();
    expect(bed.requests).toHaveLength(1);
    await of.sendAll(10, 11);
    await bed.sender.endpoints.resume('a');
    await bed.run(2000);
    expect(bed.requests[0]?.id).toMatch(/^batch_/);
    expect(bed.requests.filter(({ id }) => id === bed.requests[0]?.id)).toHaveLength(2);
  });

  it('pass the wait of an endpoint to the buckets, for all processes', async () => {
    const of = new ClaimBed(() => new Response(null, { status: 429, headers: { 'retry-after': '30' } }));
    await of.sendAll(0, 1);
    await of.bed.run(1000);
    expect(of.buckets.paused).toEqual([['a', 30_000]]);
  });

  it.each([
    [4, 2],
    [100, 1],
  ])('are no more than the part of the in-flight limit of one of %i processes', async (processes, most) => {
    const bed = new SenderBed(() => new Promise<never>(() => undefined), {
      buckets: new CountedBuckets(1000, processes),
      limits: LIMITS,
    });
    for (let n = 0; n < 20; n += 1) await bed.send(String(n));
    await bed.run(1000);
    expect(bed.mostInFlight).toBe(most);
  });

  it('are no more than a few beside the in-flight limit while the store does not confirm results', async () => {
    const of = new ClaimBed();
    of.gated.settles = 'never';
    await of.sendAll(0, 200);
    await of.bed.run(1000);
    expect(of.bed.requests.length).toBeGreaterThanOrEqual(32);
    expect(of.bed.requests.length).toBeLessThanOrEqual(8 + 32);
  });

  it('count as lost, not as delivered, when another process has taken them over', async () => {
    const of = new ClaimBed();
    of.gated.settles = 'taken';
    await of.sendAll(0, 1);
    await of.bed.run(1000);
    expect(of.bed.types()).toContain('lost');
    expect(of.bed.sender.snapshot()).toMatchObject({ depth: 1, totals: { lost: 1, delivered: 0 } });
  });

  it('are not counted as queued, nor are delivered ones', async () => {
    const of = new ClaimBed(({ id }) =>
      id === 'e0' ? new Promise<never>(() => undefined) : new Response(null, { status: 204 }),
    );
    await of.sendAll(0, 5);
    await of.bed.run(1000);
    expect(of.bed.sender.endpoints.get('a')).toMatchObject({ inFlight: 1, queued: 0 });
  });

  it.each([{}, { batch: { maxEvents: 10, maxDelayMs: 0 } }])(
    'become dead letters when they are damaged, and no others with them, with %j',
    async (limits) => {
      const of = new ClaimBed(NO_CONTENT, limits);
      of.gated.damaged.set('e3', { receivedAtMs: NaN });
      await of.sendAll(0, 1);
      await of.bed.run(100);
      await Promise.all(Array.from({ length: 9 }, (_, n) => of.bed.send(`e${String(n + 1)}`)));
      await of.bed.run(10_000);
      expect(await of.bed.sender.deadLetters.list()).toMatchObject([{ id: 'e3' }]);
      expect(of.bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 9, dead: 1 } });
    },
  );

  it('do not block the endpoint when they are damaged, and one of them is the probe', async () => {
    const retry = { firstDelayMs: 30_000, maxDelayMs: 30_000 };
    const options = { retry, random: () => 0.9 };
    const of = new ClaimBed(() => new Response(null, { status: 500 }), { maxInFlight: 1 }, options);
    const { bed } = of;
    await of.sendAll(0, 5);
    await bed.run(1000);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'failing' });
    for (let n = 5; n < 8; n += 1) of.gated.damaged.set(`e${String(n)}`, { receivedAtMs: NaN });
    bed.answer = NO_CONTENT;
    await of.sendAll(5, 8);
    await bed.run(10_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 5, deadLetters: 3 });
    await bed.run(60_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 3, totals: { delivered: 5 } });
  });
});

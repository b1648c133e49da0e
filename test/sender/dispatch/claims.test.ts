import { describe, expect, it } from 'vitest';
import { SenderBed, type Answering } from './bed.ts';
import { CountedBuckets } from './counted-buckets.ts';
import { GatedStore } from './gated-store.ts';

const LIMITS = { rate: { perSecond: 1000 }, burst: 1000, maxInFlight: 8 };
const NO_CONTENT: Answering = () => new Response(null, { status: 204 });

class ClaimBed {
  readonly gated = new GatedStore();
  readonly buckets = new CountedBuckets();
  readonly bed: SenderBed;

  constructor(answer: Answering = NO_CONTENT, limits: object = {}) {
    this.bed = new SenderBed(answer, {
      store: this.gated.store,
      buckets: this.buckets,
      limits: { ...LIMITS, ...limits },
    });
  }

  async sendAll(from: number, to: number): Promise<void> {
    for (let n = from; n < to; n += 1) await this.bed.send(`e${String(n)}`);
  }

  /** Until claims of these events are in progress. */
  async claiming(from: number, to: number): Promise<void> {
    this.gated.close();
    await this.sendAll(from, to);
    await this.bed.settle();
  }

  async claimed(): Promise<void> {
    this.gated.open();
    await this.bed.settle();
  }
}

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

  it('pass the wait of an endpoint to the buckets, for all processes', async () => {
    const of = new ClaimBed(() => new Response(null, { status: 429, headers: { 'retry-after': '30' } }));
    await of.sendAll(0, 1);
    await of.bed.run(1000);
    expect(of.buckets.paused).toEqual([['a', 30_000]]);
  });

  it('are no more than the part of the in-flight limit of this process', async () => {
    const gated = new GatedStore();
    const bed = new SenderBed(() => new Promise<never>(() => undefined), {
      ...{ store: gated.store, buckets: new CountedBuckets(1000, 4), limits: LIMITS },
    });
    for (let n = 0; n < 20; n += 1) await bed.send(String(n));
    await bed.run(1000);
    expect(bed.mostInFlight).toBe(2);
  });
});

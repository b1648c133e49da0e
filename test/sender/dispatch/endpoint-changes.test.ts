import type { Endpoint } from '@webhook-backpressure/sender';
import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

const GOOD: Endpoint = { url: 'https://a.example/', secret: null, rate: { perSecond: 10 }, burst: 1 };

/** A bed whose endpoint has the settings that the test sets. */
function bedOf(first: unknown): { bed: SenderBed; set: (value: unknown) => void } {
  let value = first;
  const endpoint = (): Endpoint =>
    typeof value === 'function' ? (value as () => Endpoint)() : (value as Endpoint);
  const bed = new SenderBed(undefined, { endpoint });
  return {
    bed,
    set: (next) => {
      value = next;
    },
  };
}

async function sendAll(bed: SenderBed, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) await bed.send(`e${String(n)}`);
}

describe('settings that change while events are sent', () => {
  it('apply after the TTL: URL, secret, rate and batches', async () => {
    const { bed, set } = bedOf(GOOD);
    await sendAll(bed, 0, 500);
    await bed.run(5000);
    const before = bed.requests.length;
    expect(before).toBeLessThanOrEqual(51);
    set({
      url: 'https://b.example/',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      rate: { perSecond: 1 },
      burst: 1,
      batch: { maxEvents: 20 },
    });
    await bed.run(6000);
    expect(bed.requests.at(-1)?.url).toBe('https://b.example/');
    bed.requests.length = 0;
    await bed.run(4000);
    expect(bed.requests.length).toBeGreaterThanOrEqual(3);
    expect(bed.requests.length).toBeLessThanOrEqual(5);
    for (const { url, headers, body } of bed.requests) {
      expect(url).toBe('https://b.example/');
      expect(headers['webhook-signature']).toMatch(/^v1,/);
      expect((body as { events: unknown[] }).events).toHaveLength(20);
    }
    set(GOOD);
    await bed.run(60_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 500, dead: 0 } });
    expect(bed.requests.at(-1)?.url).toBe('https://a.example/');
    expect(bed.requests.at(-1)?.headers['webhook-signature']).toBeUndefined();
  });

  it('apply to the next attempt after a refresh', async () => {
    const { bed, set } = bedOf(GOOD);
    await sendAll(bed, 0, 20);
    await bed.run(500);
    set({ ...GOOD, url: 'https://b.example/' });
    bed.sender.endpoints.refresh('a');
    await bed.settle();
    bed.requests.length = 0;
    await bed.run(5000);
    expect(new Set(bed.requests.map(({ url }) => url))).toEqual(new Set(['https://b.example/']));
    expect(bed.sender.snapshot().depth).toBe(0);
  });

  it.each<[string, unknown]>([
    [
      'throws',
      (): never => {
        throw new Error('The database is away.');
      },
    ],
    ['hangs', (): Promise<never> => new Promise(() => undefined)],
    ['returns nonsense', { uri: 'https://b.example/' }],
    ['returns a private address', { ...GOOD, url: 'https://10.1.2.3/' }],
    ['returns a secret that is wrong', { ...GOOD, secret: 'no base64!' }],
  ])('stay as they were when the function %s', async (_, value) => {
    const { bed, set } = bedOf(GOOD);
    await sendAll(bed, 0, 250);
    await bed.run(1000);
    set(value);
    await bed.run(30_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 250, dead: 0 } });
    expect(bed.events).toContainEqual(expect.objectContaining({ type: 'endpoint-failed', isKept: true }));
    expect(JSON.stringify(bed.events)).not.toContain('no base64!');
  });

  it.each<[string, unknown]>([
    [
      'throws',
      (): never => {
        throw new Error('The database is away.');
      },
    ],
    ['hangs', (): Promise<never> => new Promise(() => undefined)],
    ['returns undefined', undefined],
    ['returns a URL with credentials', { ...GOOD, url: 'https://user:hunter2@b.example/' }],
  ])('hold events back when the function %s, until it works, and use no attempts', async (_, value) => {
    const { bed, set } = bedOf(value);
    await sendAll(bed, 0, 5);
    await bed.run(60_000, 1000);
    expect(bed.requests).toEqual([]);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 5, totals: { attempts: 0, dead: 0 } });
    expect(JSON.stringify(bed.events)).not.toContain('hunter2');
    set(GOOD);
    await bed.run(120_000, 1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 5, attempts: 5 } });
  });

  it('move events to the dead-letter queue when there is no such endpoint any more', async () => {
    const { bed, set } = bedOf(GOOD);
    await sendAll(bed, 0, 200);
    await bed.run(5000);
    set(null);
    await bed.run(20_000);
    const { delivered, dead } = bed.sender.snapshot().totals;
    expect(delivered).toBeGreaterThanOrEqual(50);
    expect(delivered + dead).toBe(200);
    expect(dead).toBeGreaterThan(0);
    expect(bed.sender.snapshot().depth).toBe(0);
  });

  it('can turn batches off while a refused batch waits', async () => {
    const batch = { maxEvents: 10, maxDelayMs: 0 };
    const { bed, set } = bedOf({ ...GOOD, batch });
    bed.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '20' } });
    await sendAll(bed, 0, 10);
    await bed.run(1000);
    set({ ...GOOD, ordered: true });
    bed.answer = () => new Response(null, { status: 204 });
    bed.requests.length = 0;
    await bed.run(60_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 10 } });
    expect(bed.requests.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `e${String(n)}`));
  });

  it('belong to names of object members as to any other endpoint', async () => {
    const bed = new SenderBed();
    for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      await bed.sender.send({ endpoint: id, type: 't', data: { id } });
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 4 } });
  });
});

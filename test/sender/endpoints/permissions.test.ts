import { withBackpressure } from '@webhook-backpressure/web';
import { describe, expect, it } from 'vitest';
import { SenderBed, type Answering, type SeenRequest } from '../dispatch/bed.ts';

const ORIGIN = 'events.example.com';
const GRANTED = { 'WebHook-Allowed-Origin': ORIGIN };

const ok = (): Response => new Response(null, { status: 204 });
const answering =
  (permission: () => Response): Answering =>
  ({ method }) =>
    method === 'OPTIONS' ? permission() : ok();

function methods(bed: SenderBed): string[] {
  return bed.requests.map(({ method }) => method);
}

function asked(bed: SenderBed): SeenRequest[] {
  return bed.requests.filter(({ method }) => method === 'OPTIONS');
}

async function sendAll(bed: SenderBed, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await bed.send(`e${String(n)}`);
}

describe('the permission of an endpoint with origin', () => {
  it('is asked for once, before the first delivery', async () => {
    const bed = new SenderBed(
      answering(() => new Response(null, { status: 200, headers: GRANTED })),
      { limits: { origin: ORIGIN, rate: { perSecond: 2 } } },
    );
    await sendAll(bed, 3);
    await bed.run(5000);
    expect(methods(bed)).toEqual(['OPTIONS', 'POST', 'POST', 'POST']);
    expect(bed.requests.map(({ headers }) => headers['webhook-request-origin'])).toEqual(
      Array.from({ length: 4 }, () => ORIGIN),
    );
    expect(bed.requests[0]?.headers['webhook-request-rate']).toBe('120');
    expect(bed.requests[0]?.body).toBeUndefined();
    await bed.sender.close();
  });

  it('is not asked for without origin', async () => {
    const bed = new SenderBed();
    await sendAll(bed, 1);
    await bed.run(1000);
    expect(methods(bed)).toEqual(['POST']);
    expect(bed.requests[0]?.headers).not.toHaveProperty('webhook-request-origin');
    await bed.sender.close();
  });

  it.each([
    ['60', 60, 66],
    ['180', 180, 205],
    ['*', 290, 325],
    ['999999999', 290, 325],
    ['nonsense', 290, 325],
  ])('with the rate %s per minute limits the rate', async (rate, least, most) => {
    const bed = new SenderBed(
      answering(() => new Response(null, { headers: { ...GRANTED, 'WebHook-Allowed-Rate': rate } })),
      { limits: { origin: ORIGIN, rate: { perSecond: 5 }, burst: 20 }, endpointTtlMs: 600_000 },
    );
    await sendAll(bed, 400);
    await bed.run(60_000);
    const sent = bed.requests.length - 1;
    expect(sent).toBeGreaterThanOrEqual(least);
    expect(sent).toBeLessThanOrEqual(most);
    await bed.sender.close();
  });

  it('is asked for again after a minute, and the new rate applies', async () => {
    let rate = '60';
    const bed = new SenderBed(
      answering(() => new Response(null, { headers: { ...GRANTED, 'WebHook-Allowed-Rate': rate } })),
      { limits: { origin: ORIGIN, rate: { perSecond: 20 }, burst: 20 } },
    );
    await sendAll(bed, 1000);
    await bed.run(65_000);
    rate = '600';
    const before = bed.requests.length;
    await bed.run(70_000);
    // Not once per 10 s, which is how long settings are used.
    expect(asked(bed)).toHaveLength(3);
    await bed.run(60_000);
    expect(asked(bed)).toHaveLength(4);
    expect(bed.requests.length - before).toBeGreaterThan(500);
    await bed.sender.close();
  });

  it.each([
    ['without the header', () => new Response(null, { status: 200 })],
    [
      'for another origin',
      () => new Response(null, { headers: { 'WebHook-Allowed-Origin': 'x.example.com' } }),
    ],
    ['with 403', () => new Response(null, { status: 403, headers: GRANTED })],
    ['with 404', () => new Response(null, { status: 404 })],
  ])('is missing in an answer %s: nothing is delivered until it is given', async (_which, denial) => {
    let answer: () => Response = denial;
    const bed = new SenderBed(
      answering(() => answer()),
      { limits: { origin: ORIGIN } },
    );
    await sendAll(bed, 2);
    await bed.run(600_000, 1000);
    expect(new Set(methods(bed))).toEqual(new Set(['OPTIONS']));
    // After 1, 2, 4, … 60 s, less up to a half each.
    expect(asked(bed).length).toBeGreaterThan(10);
    expect(asked(bed).length).toBeLessThan(30);
    expect(bed.events.find(({ type }) => type === 'endpoint-failed')).toMatchObject({
      endpoint: 'a',
      error: expect.stringContaining('does not allow deliveries') as string,
      isKept: false,
    });
    answer = () => new Response(null, { headers: GRANTED });
    await bed.run(61_000, 500);
    expect(bed.sender.snapshot().totals).toMatchObject({ delivered: 2, dead: 0 });
    await bed.sender.close();
  });

  it('that is withdrawn stops deliveries', async () => {
    let status = 200;
    const bed = new SenderBed(
      answering(() => new Response(null, { status, headers: status === 200 ? GRANTED : {} })),
      { limits: { origin: ORIGIN, rate: { perSecond: 1 }, burst: 1 } },
    );
    await sendAll(bed, 500);
    await bed.run(30_000);
    status = 403;
    await bed.run(60_000);
    const before = bed.requests.length - asked(bed).length;
    await bed.run(60_000);
    expect(bed.requests.length - asked(bed).length).toBe(before);
    await bed.sender.close();
  });

  it.each([
    ['503', () => new Response(null, { status: 503 })],
    ['429', () => new Response(null, { status: 429 })],
    ['a failed connection', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['nothing', () => new Promise<never>(() => undefined)],
  ])('stays as it is when the endpoint answers with %s', async (_which, answer) => {
    let isDown = false;
    const bed = new SenderBed(
      ({ method }) => {
        if (method !== 'OPTIONS') return ok();
        return isDown ? answer() : new Response(null, { headers: GRANTED });
      },
      { limits: { origin: ORIGIN, rate: { perSecond: 1 }, burst: 1 } },
    );
    await sendAll(bed, 500);
    await bed.run(30_000);
    isDown = true;
    await bed.run(120_000, 200);
    expect(bed.sender.snapshot().totals.delivered).toBeGreaterThan(140);
    expect(asked(bed).length).toBeGreaterThan(2);
    expect(asked(bed).length).toBeLessThan(20);
    await bed.sender.close();
  });
});

describe('our sender and our receiver', () => {
  /** 400 events for a receiver with one worker and room for 3 that sustains 4/s, at a set rate of 200/s. */
  async function exchange(origin: string | undefined): Promise<{ attempts: number; asked: number }> {
    const bed = new SenderBed(undefined, {
      limits: { origin, rate: { perSecond: 200 }, burst: 200, maxInFlight: 1000 },
      capacity: 10_000,
    });
    const receive = withBackpressure(
      async () => {
        await bed.later(250);
        return ok();
      },
      { clock: bed.clock, concurrency: 1, capacity: 3 },
    );
    // It has worked before, so that its rate is known.
    const first = receive(new Request('https://a.example/hook', { method: 'POST', body: '{}' }));
    await bed.run(1000);
    await first;
    bed.answer = ({ method, url, headers, signal, body }) =>
      receive(
        new Request(url, {
          method,
          headers,
          signal,
          ...(method === 'POST' && { body: JSON.stringify(body) }),
        }),
      );
    await sendAll(bed, 400);
    await bed.run(160_000);
    expect(bed.sender.snapshot().totals).toMatchObject({ delivered: 400, dead: 0 });
    const counts = { attempts: bed.requests.length - asked(bed).length, asked: asked(bed).length };
    await bed.sender.close();
    return counts;
  }

  it('need fewer attempts with the handshake, where the queue is smaller than a first burst', async () => {
    const without = await exchange(undefined);
    const allowed = await exchange(ORIGIN);
    expect([without.asked, allowed.asked]).toEqual([0, 2]);
    expect(without.attempts).toBeGreaterThan(410);
    expect(allowed.attempts).toBeLessThan(405);
  });
});

it('a request for permission ends with the sender', async () => {
  const signals: AbortSignal[] = [];
  const bed = new SenderBed(
    ({ signal }) => {
      signals.push(signal);
      return new Promise<never>(() => undefined);
    },
    { limits: { origin: ORIGIN } },
  );
  await sendAll(bed, 1);
  await bed.run(100);
  await bed.sender.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(bed.clock.pending).toBe(0);
});

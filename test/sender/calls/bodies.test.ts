import { describe, expect, it } from 'vitest';
import { manualClock } from '@webhook-backpressure/core/testing';
import { limitedFetch, RetryAfter } from '@webhook-backpressure/sender/fetch';
import { answer, API } from './bed.ts';

/** The bodies that an API got which refuses the first call. */
async function sent(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<(string | RetryAfter)[]> {
  const bodies: string[] = [];
  const clock = manualClock();
  const fetch = limitedFetch({
    limits: { [API]: { perSecond: 10 } },
    clock,
    fetch: async (...given) => {
      const request = new Request(...given);
      bodies.push(`${request.method} ${String(request.headers.get('x-a'))} ${await request.text()}`);
      return bodies.length === 1 ? answer(429, { 'retry-after': '0' }) : answer(200);
    },
  });
  try {
    await fetch(input, init);
    return bodies;
  } catch (error) {
    expect(error).toBeInstanceOf(RetryAfter);
    return [...bodies, error as RetryAfter];
  }
}

const INIT = { method: 'POST', headers: { 'x-a': '1' } };
const TWICE = ['POST 1 body', 'POST 1 body'];
const stream = (): ReadableStream => new Blob(['body']).stream();

describe('the body of a refused call', () => {
  it.each([
    'body',
    new TextEncoder().encode('body'),
    new TextEncoder().encode('body').buffer,
    new Blob(['body']),
  ])('is sent again: %s', async (body) => {
    expect(await sent(API, { ...INIT, body })).toEqual(TWICE);
    expect(await sent(new URL(API), { ...INIT, body })).toEqual(TWICE);
  });

  it('is sent again as a form', async () => {
    expect(await sent(API, { ...INIT, body: new URLSearchParams({ a: 'b' }) })).toEqual([
      'POST 1 a=b',
      'POST 1 a=b',
    ]);
    const form = new FormData();
    form.set('a', 'b');
    const bodies = await sent(API, { ...INIT, body: form });
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).toContain('name="a"\r\n\r\nb');
  });

  it('of a Request is sent again, also if it is a stream', async () => {
    expect(await sent(new Request(API, { ...INIT, body: 'body' }))).toEqual(TWICE);
    expect(await sent(new Request(API, { ...INIT, body: stream(), duplex: 'half' }))).toEqual(TWICE);
    expect(await sent(new Request(API, { ...INIT, body: 'other' }), { body: 'body' })).toEqual(TWICE);
    expect(await sent(new Request(API))).toEqual(['GET null ', 'GET null ']);
  });

  it('rejects with a RetryAfter if it is a stream', async () => {
    const init = { ...INIT, body: stream(), duplex: 'half' } as RequestInit;
    expect(await sent(API, init)).toEqual(['POST 1 body', expect.any(RetryAfter)]);
  });

  it('of a Request that was used rejects as fetch does', async () => {
    const request = new Request(API, { ...INIT, body: 'body' });
    await request.text();
    await expect(limitedFetch({ limits: { [API]: { perSecond: 10 } } })(request)).rejects.toThrow(TypeError);
  });

  it('is that of the time of the call, also if the caller changes the options during the wait', async () => {
    const clock = manualClock();
    const got: unknown[] = [];
    const fetch = limitedFetch({
      limits: { [API]: { perSecond: 1, burst: 1, documented: false } },
      clock,
      fetch: (input, init) => {
        got.push(input, init?.method);
        return Promise.resolve(answer(200));
      },
    });
    await fetch(API);
    const url = new URL('a', API);
    const init = { method: 'POST' };
    const call = fetch(url, init);
    url.hostname = 'other.example';
    init.method = 'DELETE';
    clock.advance(1000);
    await call;
    expect(got).toEqual([API, undefined, `${API}a`, 'POST']);
  });
});

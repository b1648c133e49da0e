import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { limitedFetch, RetryAfter } from '@webhook-backpressure/sender/fetch';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import { answer, API } from './bed.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(handler: Parameters<typeof createServer>[1]): Promise<string> {
  server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

describe('a limited fetch', () => {
  it('frees the worker of an inbox and delays the delivery, if the API asks for more than 5 s', async () => {
    const clock = manualClock();
    const replies = [answer(429, { 'retry-after': '40' }), answer(200)];
    const fetch = limitedFetch({
      limits: { [API]: { perSecond: 10 } },
      clock,
      random: () => 0.5,
      fetch: () => Promise.resolve(replies.shift() ?? answer(500)),
    });
    const attempts: number[] = [];
    let done: unknown;
    const receive = webhookInbox({
      store: memoryStore(),
      verify: false,
      clock,
      process: async () => {
        attempts.push(clock.now());
        done = (await fetch(API)).status;
      },
    });
    expect((await receive(new Request('https://receiver.example/', { method: 'POST' }))).status).toBe(200);
    for (let left = 1000; done === undefined && left > 0; left -= 1) {
      clock.advance(100);
      await turn();
    }
    expect(done).toBe(200);
    const [first = 0, second = 0, ...more] = attempts;
    expect(more).toEqual([]);
    expect(second - first).toBeGreaterThanOrEqual(40_000);
    expect(second - first).toBeLessThan(50_000);
    await receive.inbox.close();
  });

  it('keeps a limit on sockets, with bodies and answers as fetch has them', async () => {
    const got: string[] = [];
    const url = await listen((req, res) => {
      got.push(`${String(req.method)} ${String(req.url)}`);
      if (got.length === 2) res.writeHead(429, { 'retry-after': '1' }).end('slow down');
      else req.pipe(res.writeHead(201, { 'x-answer': '1' }));
    });
    const fetch = limitedFetch({ limits: { [url]: { perSecond: 100 } } });
    const call = async (path: string): Promise<string> => {
      const answered = await fetch(`${url}${path}`, { method: 'POST', body: `body of ${path}` });
      return `${String(answered.status)} ${String(answered.headers.get('x-answer'))} ${await answered.text()}`;
    };
    expect(await call('a')).toBe('201 1 body of a');
    // Refused, and repeated after a second.
    expect(await call('b')).toBe('201 1 body of b');
    expect(await Promise.all(['c', 'd', 'e'].map(call))).toEqual(
      ['c', 'd', 'e'].map((path) => `201 1 body of ${path}`),
    );
    expect(got.slice(0, 3)).toEqual(['POST /a', 'POST /b', 'POST /b']);
    const aborted = fetch(`${url}f`, { signal: AbortSignal.abort(new Error('gone')) });
    await expect(aborted).rejects.toThrow('gone');
  });

  it('rejects with what no connection makes of it', async () => {
    const fetch = limitedFetch({ limits: { 'http://127.0.0.1:1/': { perMinute: 600 } } });
    await expect(fetch('http://127.0.0.1:1/')).rejects.toThrow(TypeError);
    const stopped = limitedFetch({ limits: { 'http://127.0.0.1:1/': { perMinute: 1 } } });
    await expect(stopped('http://127.0.0.1:1/')).rejects.toThrow(TypeError);
    await expect(stopped('http://127.0.0.1:1/')).rejects.toThrow(RetryAfter);
  });
});

import type { IntakeSnapshot } from '@webhook-backpressure/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sender, type Call, type Reply } from '../../test/conformance/sender.ts';

/** A program that serves the app. */
export interface Target {
  /** Whether a request learns that its sender has disconnected, before anything is written to it. */
  readonly seesDepartures: boolean;
  /** Before each path. */
  readonly prefix?: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Starts the program. */
  readonly start: () => Promise<{ readonly port: number; stop(): Promise<void> }>;
}

/** Defines the tests of the middleware in a program. */
export function holdScenarios({ seesDepartures, prefix = '', headers: common = {}, start }: Target): void {
  // Workerd ends a connection without a word when a handler has not read the body.
  const sender = new Sender(false);
  let served: Awaited<ReturnType<Target['start']>>;

  beforeAll(async () => {
    served = await start();
  });

  afterAll(async () => {
    sender.destroy();
    await served.stop();
  });

  /** The requests of one test, which have an intake of their own. */
  function using(app: string): {
    post: (path: string, headers?: Record<string, string>) => Call;
    get: (path: string) => Promise<Reply>;
    until: (condition: (snapshot: IntakeSnapshot) => boolean) => Promise<IntakeSnapshot>;
  } {
    const send = (path: string, headers: Record<string, string>, method = 'POST'): Call => {
      const all = { 'x-app': app, ...common, ...headers };
      return sender.send(served.port, { method, path: prefix + path, headers: all });
    };
    const get = (path: string): Promise<Reply> => send(path, {}, 'GET').reply;
    return {
      get,
      post: (path, headers = {}) => send(path, headers),
      async until(condition) {
        for (;;) {
          const snapshot = JSON.parse((await get('/snapshot')).body) as IntakeSnapshot;
          if (condition(snapshot)) return snapshot;
        }
      },
    };
  }

  it('starts a delivery immediately and passes its info to the handler', async () => {
    const { post, until } = using('info');
    const { status, body } = await post('/info', { 'x-shop': 'shop-1' }).reply;
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ key: 'shop-1', waitedMs: 0 });
    const { totals } = await until(({ active }) => active === 0);
    expect(totals).toMatchObject({ admitted: 1, completed: 1 });
  });

  it('queues one delivery, refuses the next, and serves the queued one', async () => {
    const { post, get, until } = using('refusal');
    const first = post('/hold');
    await until(({ active }) => active === 1);
    const second = post('/hold');
    await until(({ depth }) => depth === 1);

    const refused = await post('/hold').reply;
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatchObject({
      'retry-after': '5',
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(refused.body)).toMatchObject({ status: 503, reason: 'full', retryAfterSeconds: 5 });

    await get('/release');
    expect((await first.reply).body).toBe('{"event":"paid"}');
    await until(({ active, depth }) => active === 1 && depth === 0);
    await get('/release');
    expect((await second.reply).body).toBe('{"event":"paid"}');
    const { totals } = await until(({ active }) => active === 0);
    expect(totals).toMatchObject({ admitted: 2, completed: 2 });
  });

  it('refuses a delivery that was queued for too long', async () => {
    const { post, get, until } = using('impatient');
    const first = post('/hold');
    await until(({ active }) => active === 1);
    const { status, body } = await post('/hold').reply;
    expect([status, JSON.parse(body)]).toMatchObject([503, { reason: 'wait' }]);
    await get('/release');
    await first.reply;
  });

  it('holds the permit until a streamed body has ended', async () => {
    const { post, get, until } = using('stream');
    const streamed = post('/stream');
    await streamed.head;
    for (let chunk = 2; chunk < 5; chunk += 1) {
      expect((await until(() => true)).active).toBe(1);
      await get('/release');
    }
    expect((await streamed.reply).body).toBe('1 2 3 ');
    const { totals } = await until(({ active }) => active === 0);
    expect(totals).toMatchObject({ completed: 1, failed: 0 });
  });

  it('releases the permit when a sender disconnects during a streamed response', async () => {
    const { post, get, until } = using('stream-gone');
    const streamed = post('/stream');
    await streamed.head;
    streamed.vanish();
    if (seesDepartures) {
      const { totals } = await until(({ active }) => active === 0);
      expect(totals).toMatchObject({ completed: 0, failed: 1 });
    }
    for (let chunk = 2; chunk < 5; chunk += 1) await get('/release');
    await until(({ active }) => active === 0);
  });

  it('withdraws a queued delivery when its sender disconnects', async () => {
    const { post, get, until } = using('gone');
    const first = post('/hold');
    await until(({ active }) => active === 1);
    const waiting = post('/hold');
    await until(({ depth }) => depth === 1);
    waiting.vanish();
    if (seesDepartures) {
      const { totals } = await until(({ depth }) => depth === 0);
      expect(totals.withdrawn.abandoned).toBe(1);
    }
    await get('/release');
    await first.reply;
    await get('/release');
    await until(({ active, depth }) => active + depth === 0);
  });

  it('holds the permit until the handler has ended when its sender disconnects', async () => {
    const { post, get, until } = using('handled-gone');
    const held = post('/work');
    await until(({ active }) => active === 1);
    held.vanish();
    // Each of these requests gives the runtime time to notice it.
    for (let request = 0; request < 10; request += 1) expect((await until(() => true)).active).toBe(1);
    await get('/release');
    const { totals } = await until(({ active, depth }) => active + depth === 0);
    if (seesDepartures) expect(totals).toMatchObject({ completed: 0, failed: 1 });
  });

  it.each([
    ['/unavailable', 503],
    ['/throw', 500],
  ])('counts %s as failed', async (path, expected) => {
    const { post, until } = using(path);
    expect((await post(path).reply).status).toBe(expected);
    const { totals } = await until(({ active }) => active === 0);
    expect(totals).toMatchObject({ completed: 0, failed: 1 });
  });

  it('adds the rate-limit headers when they are enabled', async () => {
    const { post } = using('headers');
    expect((await post('/echo').reply).headers).toMatchObject({ 'ratelimit-policy': '"queue";q=1' });
  });

  it('refuses everything once it is closed', async () => {
    const { post, get } = using('closing');
    await get('/close');
    const { status, body } = await post('/echo').reply;
    expect([status, JSON.parse(body)]).toMatchObject([503, { reason: 'closing' }]);
  });
}

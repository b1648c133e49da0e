import type { InboxSnapshot } from '@webhook-backpressure/inbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sender, type Reply } from '../../test/conformance/sender.ts';
import type { Target } from './hold-scenarios.ts';

/** Defines the tests of the inbox in a program. */
export function inboxScenarios({ prefix = '', headers: common = {}, start }: Target): void {
  const sender = new Sender(false);
  let served: Awaited<ReturnType<Target['start']>>;

  beforeAll(async () => {
    served = await start();
  });

  afterAll(async () => {
    sender.destroy();
    await served.stop();
  });

  /** The requests of one test, which have an inbox of their own. */
  function using(app: string): {
    post: (body: string, headers?: Record<string, string>) => Promise<Reply>;
    close: () => Promise<Reply>;
    until: (condition: (snapshot: InboxSnapshot) => boolean) => Promise<InboxSnapshot>;
  } {
    const get = (path: string): Promise<Reply> =>
      sender.send(served.port, { method: 'GET', path: prefix + path, headers: { 'x-app': app, ...common } })
        .reply;
    return {
      close: () => get('/inbox/close'),
      post: (body, headers = {}) => {
        const signature = String(body.length);
        const all = { 'x-app': app, 'x-signature': signature, ...common, ...headers };
        return sender.send(served.port, { path: `${prefix}/inbox`, body, headers: all }).reply;
      },
      async until(condition) {
        for (;;) {
          const snapshot = JSON.parse((await get('/inbox')).body) as InboxSnapshot;
          if (condition(snapshot)) return snapshot;
        }
      },
    };
  }

  it('acknowledges a delivery, retries it until it succeeds, and recognizes a duplicate', async () => {
    const { post, until } = using('acknowledges');
    const { status, headers, body } = await post('{"n":1}', { 'webhook-id': 'a' });
    expect([status, headers['content-type'], body]).toEqual([
      200,
      'application/json',
      '{"id":"a","status":"accepted"}',
    ]);
    const { totals, depth } = await until(({ totals: { completed } }) => completed === 1);
    expect([totals, depth]).toMatchObject([{ stored: 1, started: 2, failed: 1, completed: 1 }, 0]);
    expect((await post('{"n":1}', { 'webhook-id': 'a' })).body).toBe('{"id":"a","status":"duplicate"}');
  });

  it('generates missing ids, and hashes long ones', async () => {
    const { post } = using('ids');
    expect((await post('{}')).body).toMatch(/^\{"id":"[0-9a-f-]{36}","status":"accepted"\}$/);
    expect((await post('{}', { 'webhook-id': 'x'.repeat(300) })).body).toMatch(/"id":"sha256:[0-9a-f]{64}"/);
  });

  it('processes many that arrive concurrently', async () => {
    const { post, until } = using('many');
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => post(`{"n":${String(at)}}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { totals } = await until(({ totals: { completed } }) => completed === 50);
    expect(totals).toMatchObject({ stored: 50, started: 55, failed: 5, dead: 0 });
  });

  it('refuses unverified and oversized deliveries', async () => {
    const { post, until } = using('refuses');
    expect((await post('{}', { 'x-signature': 'wrong' })).status).toBe(401);
    const unknown = await post('{}', { 'x-signature': 'unknown' });
    expect([unknown.status, JSON.parse(unknown.body)]).toMatchObject([503, { reason: 'pressure' }]);
    expect(Number(unknown.headers['retry-after'])).toBeGreaterThan(0);
    expect((await post('x'.repeat(100_001))).status).toBe(413);
    const { totals } = await until(() => true);
    expect(totals).toMatchObject({ stored: 0, unverified: 1, tooLarge: 1, refused: { pressure: 1 } });
  });

  it('refuses everything once it is closed', async () => {
    const { post, close } = using('closing');
    expect((await post('{}')).status).toBe(200);
    await close();
    const { status, body } = await post('{}');
    expect([status, JSON.parse(body)]).toMatchObject([503, { reason: 'closing' }]);
  });
}

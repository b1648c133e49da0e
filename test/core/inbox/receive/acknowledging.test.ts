import { type InboxAnswer, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { START } from '../store/cases/store-fixtures.ts';

describe('an inbox', () => {
  it.each([
    ['200 to an unknown sender', {}, 200],
    ['202 to a sender that accepts any 2xx', { 'x-github-event': 'push' }, 202],
    ['the only success status of its sender', { 'x-only': '1' }, 204],
  ])('acknowledges with %s', async (_, headers, status) => {
    const source = { source: 'https://example.org', verifiedAt: '2026-11-22' };
    const senders = [{ name: 'only', match: { header: 'x-only' }, success: 204, ...source }];
    expect((await new InboxBench({ senders }).deliver('a', '{}', headers)).status).toBe(status);
  });

  it.each([
    ['an unknown sender', {}, 204, 201],
    ['a sender that accepts any 2xx', { 'x-github-event': 'push' }, 202, 204],
  ])(
    'acknowledges %s with the status of the option, also after an update',
    async (_, headers, first, then) => {
      const bench = new InboxBench({ successStatus: { unknown: 204 } });
      expect((await bench.deliver('a', '{}', headers)).status).toBe(first);
      bench.inbox.update({ successStatus: { unknown: 201, known: 204 } });
      expect((await bench.deliver('a', '{}', headers)).status).toBe(then);
      bench.inbox.update({ successStatus: { known: 206 } });
      expect(bench.inbox.snapshot().options.successStatus).toEqual({ known: 206, unknown: 201 });
    },
  );

  it.each([204, 205])('acknowledges with %i without a body', async (unknown) => {
    const bench = new InboxBench({ successStatus: { unknown } });
    expect(await bench.deliver('a')).toEqual({ status: unknown, headers: {}, body: '' });
    expect(await bench.deliver('a')).toEqual({ status: unknown, headers: {}, body: '' });
  });

  it('acknowledges with 200 and the id, and passes the delivery to a handler', async () => {
    const bench = new InboxBench();
    const answer = await bench.deliver('a', '{"n":1}', { 'x-one': '1' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ id: 'a', status: 'accepted' });
    const { delivery, attempt } = bench.last;
    expect(attempt).toBe(1);
    expect(delivery).toMatchObject({
      id: 'a',
      key: 'default',
      sender: undefined,
      headers: { 'webhook-id': 'a', 'x-one': '1' },
    });
    expect(delivery.receivedAt).toEqual(new Date(START));
    expect([delivery.text(), delivery.json()]).toEqual(['{"n":1}', { n: 1 }]);
  });

  it('acknowledges only after the store has committed', async () => {
    const store = memoryStore();
    let commit: () => void = () => undefined;
    const put = store.put.bind(store);
    const gate = new Promise<void>((resolve) => {
      commit = resolve;
    });
    store.put = async (...args) => {
      await gate;
      return put(...args);
    };
    const bench = new InboxBench({ store });
    let answer: InboxAnswer | null | undefined;
    void bench.send('a').then((given) => {
      answer = given;
    });
    await turns();
    expect(answer).toBeUndefined();
    commit();
    await turns();
    expect(answer?.status).toBe(200);
  });

  it('answers duplicate, and starts no handler, while the id is known', async () => {
    const bench = new InboxBench();
    await bench.deliver('a');
    expect(JSON.parse((await bench.deliver('a')).body)).toEqual({ id: 'a', status: 'duplicate' });
    await bench.last.finish();
    const late = await bench.deliver('a');
    expect([late.status, JSON.parse(late.body)]).toEqual([200, { id: 'a', status: 'duplicate' }]);
    expect(bench.calls).toHaveLength(1);
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 2, completed: 1 });
  });

  it('generates an id for a delivery without one, and detects no duplicates then', async () => {
    const bench = new InboxBench();
    const ids = [await bench.deliver(undefined), await bench.deliver('')].map(
      ({ body }) => (JSON.parse(body) as { id: string }).id,
    );
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(bench.inbox.snapshot().totals.stored).toBe(2);
  });

  it('takes the id from the option, else from the header', async () => {
    const bench = new InboxBench({ id: ({ json }) => (json() as { id?: string }).id });
    const idOf = async (header: string, body: string): Promise<unknown> =>
      (JSON.parse((await bench.deliver(header, body)).body) as { id: string }).id;
    expect(await idOf('header', '{"id":"body"}')).toBe('body');
    expect(await idOf('header', '{}')).toBe('header');
    expect(await idOf('header', '{"id":""}')).toBe('header');
  });

  it('hashes a long id, so that ids with the same beginning stay different', async () => {
    const bench = new InboxBench();
    const long = 'x'.repeat(300);
    for (const id of [`${long}1`, `${long}2`])
      expect(JSON.parse((await bench.deliver(id)).body)).toMatchObject({ status: 'accepted' });
    expect(JSON.parse((await bench.deliver(`${long}1`)).body)).toMatchObject({ status: 'duplicate' });
    const [first] = bench.calls;
    expect(first?.delivery.id).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('answers with the success code of the sender profile', async () => {
    const bench = new InboxBench();
    const zoom = await bench.deliver(undefined, '{}', { 'x-zm-signature': 'v0=1' });
    expect(zoom).toEqual({ status: 200, headers: {}, body: '' });
    const github = await bench.deliver(undefined, '{}', {
      'x-github-event': 'push',
      'x-github-delivery': 'g1',
    });
    expect(JSON.parse(github.body)).toEqual({ id: 'g1', status: 'accepted' });
    expect(bench.last.delivery).toMatchObject({ sender: 'github', key: 'github' });
  });

  it('takes the key from the option, else from the sender', async () => {
    const bench = new InboxBench({ keyGenerator: ({ headers }) => headers['x-tenant'] });
    await bench.deliver('a', '{}', { 'x-tenant': 't1' });
    expect(bench.last.delivery.key).toBe('t1');
    await bench.deliver('a', '{}', { 'x-github-event': 'push' });
    expect(bench.last.delivery.key).toBe('github');
    expect(bench.inbox.snapshot().keys).toBe(2);
  });

  it('rejects with what an option throws, and stores nothing', async () => {
    const bench = new InboxBench({
      id: () => {
        throw new TypeError('no id here');
      },
    });
    await expect(bench.send('a')).rejects.toThrow('no id here');
    expect(bench.inbox.snapshot().depth).toBe(0);
  });

  it.each(['id', 'keyGenerator'] as const)('accepts only a string from %s', async (option) => {
    let told: unknown = Promise.resolve('a');
    const bench = new InboxBench({ [option]: () => told as string });
    for (told of [Promise.resolve('a'), { id: 1 }, 17]) {
      await expect(bench.send('a')).rejects.toMatchObject({ code: 'ERR_WBP_CALLBACK' });
    }
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 0, duplicate: 0 });
    told = null;
    await bench.deliver('a');
    expect(bench.last.delivery).toMatchObject({ id: 'a', key: 'default' });
  });
});

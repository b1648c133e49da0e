import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { START } from '../store/cases/store-fixtures.ts';

const ONCE = { retry: { attempts: 1 } };

async function bury(bench: InboxBench, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await bench.deliver(id);
    await bench.last.fail();
  }
}

describe('the dead-letter queue', () => {
  it('redrives a delivery, which is processed again', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b');
    expect(await bench.inbox.deadLetters.redrive('a')).toBe(1);
    await turns();
    expect([bench.last.delivery.id, bench.last.attempt]).toEqual(['a', 1]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 1, deadLetters: 1 });
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, bytes: 0, keys: 0 });
    expect(await bench.inbox.deadLetters.redrive('a')).toBe(0);
  });

  it('purges a delivery, whose id is accepted again', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b', 'c');
    expect(await bench.inbox.deadLetters.purge('a')).toBe(1);
    expect(await bench.inbox.deadLetters.purge('all')).toBe(2);
    expect(await bench.inbox.deadLetters.list()).toEqual([]);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
  });

  it('purges one delivery, and not all, whatever id its sender chose', async () => {
    const bench = new InboxBench({ retry: { attempts: 1 } });
    for (const id of ['a', 'all']) {
      await bench.deliver(id);
      await bench.last.fail();
    }
    expect(JSON.parse((await bench.deliver('all')).body)).toMatchObject({ status: 'duplicate' });
    const [, chosen] = await bench.inbox.deadLetters.list();
    expect(await bench.inbox.deadLetters.purge(chosen?.id ?? '')).toBe(1);
    expect((await bench.inbox.deadLetters.list()).map(({ id }) => id)).toEqual(['a']);
  });

  it('restricts calls to one key when several keys have the same id', async () => {
    const bench = new InboxBench({ ...ONCE, keyGenerator: ({ headers }) => headers['x-key'] });
    for (const key of ['x', 'y', 'z']) {
      await bench.deliver('1', `"${key}"`, { 'x-key': key });
      await bench.last.fail();
    }
    const { deadLetters } = bench.inbox;
    const left = async (): Promise<string[]> => (await deadLetters.list()).map(({ key }) => key);
    expect((await deadLetters.get('1', { key: 'y' }))?.json()).toBe('y');
    expect(await deadLetters.redrive('1', { key: 'y' })).toBe(1);
    await turns();
    expect([bench.last.delivery.key, await left()]).toEqual(['y', ['x', 'z']]);
    expect(await deadLetters.purge('1', { key: 'x' })).toBe(1);
    expect(await left()).toEqual(['z']);
    expect((await deadLetters.list({ key: 'x' })).length).toBe(0);
    expect(await deadLetters.purge('all', { key: 'x' })).toBe(0);
    expect(await deadLetters.purge('all', { key: 'z' })).toBe(1);
    expect(await left()).toEqual([]);
  });

  it.each([null, 'shop', { key: 1 }])('rejects an invalid scope: %j', async (scope) => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a');
    const { deadLetters } = bench.inbox;
    const wrong = scope as unknown as { key: string };
    const calls: (() => Promise<unknown>)[] = [
      () => deadLetters.list(wrong),
      () => deadLetters.get('a', wrong),
      () => deadLetters.redrive('a', wrong),
      () => deadLetters.purge('all', wrong),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_WBP_DEAD_LETTERS' });
    expect(await deadLetters.list()).toHaveLength(1);
  });

  it('lists deliveries without bodies', async () => {
    const bench = new InboxBench(ONCE);
    await bench.deliver('a', '"12345678"', { 'x-one': '1' });
    await bench.last.fail();
    const [listed] = await bench.inbox.deadLetters.list();
    expect(listed).toEqual({
      id: 'a',
      key: 'default',
      sender: undefined,
      method: 'POST',
      url: '/webhooks?shop=1',
      path: '/webhooks',
      params: {},
      context: null,
      headers: { 'webhook-id': 'a', 'x-one': '1' },
      receivedAt: new Date(START),
      bodyBytes: 10,
      encryptedBy: undefined,
      attempts: 1,
      reason: 'dead',
      error: 'it failed',
      deadAt: new Date(START),
    });
    expect((await bench.inbox.deadLetters.get('a'))?.text()).toBe('"12345678"');
  });

  it('lists deliveries in pages', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b', 'c');
    const ids = async (options: { limit?: number; offset?: number }): Promise<string[]> =>
      (await bench.inbox.deadLetters.list(options)).map(({ id }) => id);
    expect([await ids({ limit: 2 }), await ids({ limit: 2, offset: 2 })]).toEqual([['a', 'b'], ['c']]);
    expect((await bench.inbox.deadLetters.get('b'))?.json()).toEqual({});
  });
});

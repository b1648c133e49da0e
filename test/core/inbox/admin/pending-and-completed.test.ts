import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { delivery, START, storedBytes } from '../store/cases/store-fixtures.ts';

describe('pending', () => {
  it('lists deliveries without bodies, in pages, by key and by state', async () => {
    const bench = new InboxBench({ concurrency: 1, keyGenerator: ({ headers }) => headers['x-key'] });
    for (const [id, key] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const)
      await bench.deliver(id, '"12345678"', { 'x-key': key });
    const { pending } = bench.inbox;
    const { deliveries, next } = await pending.list();
    expect(next).toBeUndefined();
    expect(deliveries[0]).toEqual({
      id: 'a',
      key: 'x',
      sender: undefined,
      method: 'POST',
      url: '/webhooks?shop=1',
      path: '/webhooks',
      params: {},
      context: null,
      encryptedBy: undefined,
      headers: { 'webhook-id': 'a', 'x-key': 'x' },
      receivedAt: new Date(START),
      bodyBytes: 10,
      state: 'active',
      attempts: 1,
      dueAt: new Date(START),
    });
    const ids = async (options: Parameters<typeof pending.list>[0]): Promise<string[]> =>
      (await pending.list(options)).deliveries.map(({ id }) => id);
    expect([await ids({ key: 'x' }), await ids({ state: 'ready' }), await ids({ limit: 2 })]).toEqual([
      ['a', 'c'],
      ['b', 'c'],
      ['a', 'b'],
    ]);
    const first = await pending.list({ limit: 2 });
    expect(await ids({ limit: 2, after: first.next })).toEqual(['c']);
    await bench.last.fail();
    expect(await ids({ state: 'delayed' })).toEqual(['a']);
  });

  it('finds a delivery with its body, in any key or in one', async () => {
    const bench = new InboxBench({ keyGenerator: ({ headers }) => headers['x-key'], concurrency: 1 });
    for (const key of ['x', 'y', '__proto__']) await bench.deliver('1', `"${key}"`, { 'x-key': key });
    const { pending } = bench.inbox;
    expect((await pending.get('1'))?.json()).toBe('x');
    expect((await pending.get('1', { key: '__proto__' }))?.json()).toBe('__proto__');
    expect(await pending.get('1', { key: 'y' })).toMatchObject({ state: 'ready', attempts: 0 });
    expect(await pending.get('2')).toBeUndefined();
    expect(await pending.get('1', { key: 'z' })).toBeUndefined();
  });

  it.each([
    ['list', [{ limit: 0 }]],
    ['list', [{ after: -1 }]],
    ['list', [{ state: 'dead' }]],
    ['list', [null]],
    ['get', [1]],
    ['get', ['a', { key: 1 }]],
  ] as const)('says what it cannot use: %s %j', async (call, given) => {
    const { pending } = new InboxBench().inbox;
    const calls = pending as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
    await expect(calls[call]?.(...given)).rejects.toMatchObject({ code: 'ERR_WBP_DEAD_LETTERS' });
  });
});

describe('keepCompletedMs', () => {
  const KEEP = { keepCompletedMs: 60_000 };

  async function complete(bench: InboxBench, ...ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await bench.deliver(id, `"${id}"`);
      await bench.last.finish();
    }
  }

  it('keeps the deliveries that have replaced a split one, and not that one', async () => {
    const handle = (): void => undefined;
    const bench = new InboxBench({ ...KEEP, process: handle, on: { '*': handle, '*:e': handle } });
    await bench.deliver('a', '{"type":"e"}');
    await bench.advance(100);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, retained: 2, totals: { split: 1 } });
  });

  it('keeps nothing by default', async () => {
    const bench = new InboxBench();
    await complete(bench, 'a');
    expect(await bench.inbox.completed.list()).toEqual({ deliveries: [], next: undefined });
    expect(await bench.inbox.completed.get('a')).toBeUndefined();
    expect(bench.inbox.snapshot()).toMatchObject({ retained: 0, retainedBytes: 0 });
  });

  it('keeps completed deliveries to be listed, read and replayed, and no longer', async () => {
    const bench = new InboxBench(KEEP);
    await complete(bench, 'a', 'b');
    const { completed } = bench.inbox;
    const { deliveries } = await completed.list();
    expect(
      deliveries.map(({ id, attempts, completedAt, bodyBytes }) => [id, attempts, completedAt, bodyBytes]),
    ).toEqual([
      ['a', 1, new Date(START), 3],
      ['b', 1, new Date(START), 3],
    ]);
    expect((await completed.get('b'))?.json()).toBe('b');
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, retained: 2 });
    expect(JSON.parse((await bench.deliver('a', '"a"')).body)).toMatchObject({ status: 'duplicate' });

    expect(await completed.replay('a')).toBe(1);
    await turns();
    expect([bench.last.delivery.text(), bench.last.attempt, bench.calls.length]).toEqual(['"a"', 1, 3]);
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      retained: 2,
      totals: { completed: 3 },
    });
    expect(await completed.replay('unknown')).toBe(0);

    await bench.advance(66_000);
    expect(bench.inbox.snapshot()).toMatchObject({ retained: 0, retainedBytes: 0 });
    expect(await completed.list()).toMatchObject({ deliveries: [] });
    expect(JSON.parse((await bench.deliver('a', '"a"')).body)).toMatchObject({ status: 'duplicate' });
  });

  it('keeps no more than its limit in bytes, and deletes the oldest', async () => {
    const bytes = storedBytes(delivery('1', { key: 'default', headers: { 'webhook-id': '1' } }));
    const bench = new InboxBench({ ...KEEP, maxKeptBytes: 8 * bytes });
    for (let at = 0; at < 30; at += 1) {
      await complete(bench, String.fromCharCode(97 + at));
      expect(bench.inbox.snapshot().retainedBytes).toBeLessThanOrEqual(8 * bytes);
      await bench.advance(5000);
    }
    const { deliveries } = await bench.inbox.completed.list();
    expect(deliveries.length).toBeGreaterThanOrEqual(6);
    expect(deliveries.at(-1)?.id).toBe(String.fromCharCode(97 + 29));
    // They are not unfinished, so no delivery is refused because of them.
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, bytes: 0 });
  });

  it('forgets an id, so that it is accepted again', async () => {
    const bench = new InboxBench(KEEP);
    await complete(bench, 'a');
    const { completed } = bench.inbox;
    expect(await completed.forget('a', { key: 'other' })).toBe(false);
    expect(await completed.forget('a', { key: 'default' })).toBe(true);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
    expect(await completed.forget('a', { key: 'default' })).toBe(false);
    for (const wrong of [undefined, {}, 'default'])
      await expect(completed.forget('a', wrong as never)).rejects.toMatchObject({
        code: 'ERR_WBP_DEAD_LETTERS',
      });
  });
});

it('reports a duplicate with another body, and acknowledges it', async () => {
  const bench = new InboxBench();
  await bench.deliver('a', '{"amount":1}');
  await bench.deliver('a', '{"amount":1}');
  const answer = await bench.deliver('a', '{"amount":100}');
  expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { id: 'a', status: 'duplicate' }]);
  await bench.last.finish();
  await bench.deliver('a', '{"amount":2}');
  expect(bench.told('stored', 'duplicate', 'conflict')).toEqual([
    'stored a',
    'duplicate a',
    'conflict a',
    'conflict a',
  ]);
  expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1, conflict: 2 });
  expect(bench.calls.map((call) => call.delivery.text())).toEqual(['{"amount":1}']);
});

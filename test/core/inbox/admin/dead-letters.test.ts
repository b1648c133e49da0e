import { memoryStore, type InboxStore } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { MemoryState } from '../../../../packages/core/src/inbox/store/memory/memory-state.ts';
import { MemoryStore } from '../../../../packages/core/src/inbox/store/memory/memory-store.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { LEASE, START } from '../store/cases/store-words.ts';

const ONCE = { retry: { attempts: 1 } };

async function bury(bench: InboxBench, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await bench.deliver(id);
    await bench.last.fail();
  }
}

describe('the shelf', () => {
  it('gives one back, to be handled anew', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b');
    expect(await bench.inbox.deadLetters.redrive('a')).toBe(1);
    await turns();
    expect([bench.last.delivery.id, bench.last.attempt]).toEqual(['a', 1]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 1, shelved: 1 });
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, bytes: 0, keys: 0 });
    expect(await bench.inbox.deadLetters.redrive('a')).toBe(0);
  });

  it('throws away, and the id may come again', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b', 'c');
    expect(await bench.inbox.deadLetters.purge('a')).toBe(1);
    expect(await bench.inbox.deadLetters.purge('all')).toBe(2);
    expect(await bench.inbox.deadLetters.list()).toEqual([]);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
  });

  it('loses the one delivery, and not all, whatever id its sender chose', async () => {
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

  it('is asked for one key, where several have the same id', async () => {
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

  it.each([null, 'shop', { key: 1 }])('does nothing for a key that is none: %j', async (scope) => {
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

  it('is listed without bodies', async () => {
    const bench = new InboxBench(ONCE);
    await bench.deliver('a', '"12345678"', { 'x-one': '1' });
    await bench.last.fail();
    const [listed] = await bench.inbox.deadLetters.list();
    expect(listed).toEqual({
      id: 'a',
      key: 'default',
      sender: undefined,
      ...{ method: 'POST', url: '/webhooks?shop=1', path: '/webhooks', params: {}, context: null },
      headers: { 'webhook-id': 'a', 'x-one': '1' },
      receivedAt: new Date(START),
      bodyBytes: 10,
      encryptedBy: undefined,
      attempts: 1,
      reason: 'dead',
      error: 'it failed',
      shelvedAt: new Date(START),
    });
    expect((await bench.inbox.deadLetters.get('a'))?.text()).toBe('"12345678"');
  });

  it('is listed in pages', async () => {
    const bench = new InboxBench(ONCE);
    await bury(bench, 'a', 'b', 'c');
    const ids = async (options: { limit?: number; offset?: number }): Promise<string[]> =>
      (await bench.inbox.deadLetters.list(options)).map(({ id }) => id);
    expect([await ids({ limit: 2 }), await ids({ limit: 2, offset: 2 })]).toEqual([['a', 'b'], ['c']]);
    expect((await bench.inbox.deadLetters.get('b'))?.json()).toEqual({});
  });
});

describe('close', () => {
  it('lets handlers finish, and claims nothing more', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    await bench.deliver('a');
    await bench.deliver('b');
    const closing = bench.inbox.close();
    await turns();
    expect(bench.inbox.snapshot().state).toBe('closing');
    expect((await bench.deliver('c')).status).toBe(503);
    await bench.last.finish();
    expect(await closing).toEqual({ completed: 1, refused: 0, remaining: 0 });
    expect(bench.calls).toHaveLength(1);
    expect(bench.inbox.snapshot().state).toBe('closed');
    await bench.advance(50);
    expect(bench.clock.pending).toBe(0);
  });

  it('tells handlers at the timeout, and gives their deliveries back', async () => {
    const state = new MemoryState();
    const bench = new InboxBench({ store: new MemoryStore(state), concurrency: 2 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    const closing = bench.inbox.close({ timeoutMs: 5000 });
    await bench.advance(4999);
    expect(bench.calls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await bench.advance(1);
    expect(bench.calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(await closing).toEqual({ completed: 0, refused: 0, remaining: 2 });
    expect(bench.told('released')).toEqual(['released a', 'released b']);
    expect(await bench.inbox.close()).toBe(await closing);

    const next = new InboxBench({ store: new MemoryStore(state), concurrency: 3 });
    await turns();
    const begun = next.calls.map(({ delivery, attempt }) => [delivery.id, attempt]);
    expect(begun.sort()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
    expect(next.inbox.snapshot().depth).toBe(3);
  });

  it('gives back at once what waits for its turn at the pace', async () => {
    const bench = new InboxBench({ concurrency: 5, drainRate: 1 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    const closing = bench.inbox.close();
    await bench.last.finish();
    expect(await closing).toEqual({ completed: 1, refused: 0, remaining: 0 });
    expect(bench.told('released').sort()).toEqual(['released b', 'released c']);
  });

  it('closes the store when what is being stored is stored', async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    let isClosed = false;
    let write = (): void => undefined;
    store.put = async (...batch) => {
      await new Promise<void>((resolve) => (write = resolve));
      return put(...batch);
    };
    store.close = () => {
      isClosed = true;
    };
    const bench = new InboxBench({ store });
    const sent = bench.send('a');
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    expect(isClosed).toBe(false);
    write();
    expect((await sent)?.status).toBe(200);
    await closing;
    expect(isClosed).toBe(true);
  });

  it('ends although the store does not answer any more', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store });
    await bench.deliver('a');
    store.settle = () => new Promise(() => undefined);
    store.close = () => new Promise(() => undefined);
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    await bench.advance(2000);
    expect(await closing).toMatchObject({ remaining: 1 });
  });
});

/** The same deliveries for a process that died and the one after it. */
function twoLives(): [InboxStore, InboxStore] {
  const state = new MemoryState();
  return [new MemoryStore(state), new MemoryStore(state)];
}

describe('after a process has died', () => {
  it('its deliveries are handled by the next one, each alone, and the rest beside them', async () => {
    const [first, second] = twoLives();
    const dying = new InboxBench({ store: first, concurrency: 3 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await dying.deliver(id);
    const next = new InboxBench({ store: second, concurrency: 10 }, START + LEASE);
    // It looks again and again, with workers free.
    for (let at = 0; at < 10; at += 1) await next.advance(1000);
    const begun = next.calls.map(({ delivery }) => delivery.id);
    expect(begun.filter((id) => 'abc'.includes(id))).toHaveLength(1);
    expect(begun.filter((id) => 'de'.includes(id))).toHaveLength(2);
    for (let at = 0; at < 5; at += 1) await next.calls[at]?.finish();
    expect(next.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 5 } });
  });

  it('the one that kills every process ends on the shelf, after its attempts and one that is forgiven', async () => {
    const state = new MemoryState();
    const retry = { attempts: 3 };
    let wallMs = START;
    let bench = new InboxBench({ store: new MemoryStore(state), retry });
    await bench.deliver('poison');
    let lives = 1;
    while ((await bench.inbox.deadLetters.get('poison')) === undefined) {
      expect(lives).toBeLessThan(10);
      wallMs += LEASE;
      // A new process; the old one never says another word.
      bench = new InboxBench({ store: new MemoryStore(state), retry }, wallMs);
      await bench.advance(5000);
      lives += bench.calls.length;
    }
    expect(lives).toBe(4);
    expect(await bench.inbox.deadLetters.get('poison')).toMatchObject({
      reason: 'dead',
      error: expect.stringContaining('ended during the last of 3 attempts') as string,
    });
    expect(bench.inbox.snapshot().depth).toBe(0);
  });
});

it('goes to the shelf when fewer attempts are allowed by now than it has had', async () => {
  const [first, second] = twoLives();
  const before = new InboxBench({ store: first, retry: { attempts: 5, firstDelayMs: 0, maxDelayMs: 0 } });
  await before.deliver('a');
  for (let at = 0; at < 3; at += 1) {
    await before.last.fail();
    await before.advance(1000);
  }
  const closing = before.inbox.close({ timeoutMs: 0 });
  await before.advance(0);
  await closing;
  const after = new InboxBench({ store: second, retry: { attempts: 2, firstDelayMs: 0 } }, START + 10_000);
  await after.advance(5000);
  expect(after.calls).toEqual([]);
  const letter = await after.inbox.deadLetters.get('a');
  expect(letter?.error).toContain('or retry.attempts was lowered since');
});

describe('completed ids', () => {
  it('are forgotten after the retention', async () => {
    const bench = new InboxBench({ retentionMs: 2 * 3_600_000 });
    await bench.deliver('a');
    await bench.last.finish();
    for (let at = 0; at < 119; at += 1) await bench.advance(60_000);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'duplicate' });
    await bench.advance(60_000);
    for (let at = 0; at < 2; at += 1) await bench.advance(5000);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
  });
});

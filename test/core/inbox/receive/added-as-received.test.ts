import { describe, expect, it } from 'vitest';
import { type InboxOptions, verifiers } from '@webhook-backpressure/inbox';
import { InboxBench, turns } from '../inbox-bench.ts';

const GITHUB = { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'guid-1' };
const STRIPE = { secret: 'whsec_test' };

function lower(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

describe('add() with asReceived', () => {
  it.each<[string, Partial<InboxOptions>, Record<string, string>]>([
    ['a built-in sender', {}, GITHUB],
    ['webhook-id of any sender', {}, { 'webhook-id': 'msg_1' }],
    [
      'a sender of the option senders',
      {
        senders: [
          {
            name: 'erp',
            match: { header: 'x-erp' },
            id: 'x-erp',
            source: 'https://erp.example',
            verifiedAt: '2026-11-28',
          },
        ],
      },
      { 'x-erp': 'e1' },
    ],
    [
      'keyGenerator with the headers',
      { keyGenerator: ({ headers }) => headers['x-tenant'] },
      { ...GITHUB, 'x-tenant': 't1' },
    ],
    ['keyGenerator with the body', { keyGenerator: ({ json }) => (json() as { shop: string }).shop }, GITHUB],
    ['id', { id: ({ json }) => (json() as { id: string }).id }, GITHUB],
    [
      'a header that is not stored',
      { keyGenerator: ({ headers }) => headers['x-tenant'], redact: ['x-tenant'] },
      { ...GITHUB, 'x-tenant': 't1' },
    ],
    ['an id of more than 256 characters', { id: () => 'x'.repeat(300) }, GITHUB],
  ])('has the names of a received delivery: %s', async (_, options, headers) => {
    const body = '{"id":"a","shop":"eu"}';
    const received = new InboxBench(options);
    await received.deliver(undefined, body, lower(headers));
    const added = new InboxBench(options);
    await added.inbox.add({ headers, body }, { asReceived: true });
    await turns();
    const { id, key, sender, headers: stored, rawBody } = received.last.delivery;
    expect(added.last.delivery).toMatchObject({ id, key, sender, headers: stored, rawBody });
    // Both ways know what came by the other.
    const again = await received.inbox.add({ headers, body }, { asReceived: true });
    expect(again).toEqual({ id, status: 'duplicate' });
    expect((await added.deliver(undefined, body, lower(headers))).body).toContain('duplicate');
  });

  it('has the key and the id of the verifier, and the given sender', async () => {
    const bench = new InboxBench({ verify: verifiers.stripe(STRIPE) });
    const result = await bench.inbox.add(
      { id: 'other', sender: 'stripe', body: '{"id":"evt_1"}' },
      { asReceived: true },
    );
    await turns();
    expect(result).toEqual({ id: 'evt_1', status: 'accepted' });
    expect(bench.last.delivery).toMatchObject({ id: 'evt_1', key: 'stripe', sender: 'stripe' });
  });

  it('uses the given names where the inbox has none', async () => {
    const bench = new InboxBench();
    expect(await bench.inbox.add({ id: 'a', sender: 'erp', body: '' }, { asReceived: true })).toMatchObject({
      id: 'a',
    });
    await turns();
    expect(bench.last.delivery).toMatchObject({ id: 'a', key: 'erp', sender: 'erp' });
    await bench.inbox.add({ id: 'b', key: 'k', sender: 'erp', body: '' }, { asReceived: true });
    await turns();
    expect(bench.last.delivery).toMatchObject({ id: 'b', key: 'k' });
  });

  it('rejects with what keyGenerator throws, and stores nothing', async () => {
    const bench = new InboxBench({ keyGenerator: ({ json }) => String(json()) });
    await expect(bench.inbox.add({ body: '' }, { asReceived: true })).rejects.toBeInstanceOf(SyntaxError);
    expect((await bench.store.stats()).depth).toBe(0);
  });

  it('does not change the names without it', async () => {
    const bench = new InboxBench({ keyGenerator: () => 'k', id: () => 'i' });
    await bench.inbox.add({ id: 'a', headers: GITHUB, body: '' });
    await turns();
    expect(bench.last.delivery).toMatchObject({ id: 'a', key: 'default', sender: undefined });
  });
});

describe('add() with dryRun', () => {
  it('says whether the id is known, also when the inbox is full, and stores and reports nothing', async () => {
    const bench = new InboxBench({ capacity: 1 });
    const look = (id: string) => bench.inbox.add({ id, body: '{}' }, { dryRun: true });
    expect(await look('a')).toEqual({ id: 'a', status: 'accepted' });
    await bench.inbox.add({ id: 'a', body: 'text' });
    await turns();
    expect(await look('a')).toEqual({ id: 'a', status: 'duplicate' });
    expect(await look('b')).toEqual({ id: 'b', status: 'accepted' });
    await bench.last.finish();
    expect(await look('a')).toEqual({ id: 'a', status: 'duplicate' });
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 0, conflict: 0 });
    expect(bench.told('stored', 'duplicate', 'conflict')).toEqual(['stored a']);
  });

  it('rejects when the store does not answer, and ends before the store is closed', async () => {
    const bench = new InboxBench();
    const { store } = bench;
    const put = store.put.bind(store);
    Object.assign(store, { put: () => Promise.reject(new Error('no disk')) });
    await bench.advance(1000);
    await expect(bench.inbox.add({ body: '' }, { dryRun: true })).rejects.toMatchObject({
      code: 'ERR_WBP_ADD_STORE',
    });
    Object.assign(store, { put });
  });

  it.each([
    [{ dryRun: 1 }],
    [{ asReceived: 'yes' }],
    [{ client: {}, dryRun: true }],
    [{ client: {}, asReceived: false }],
    [{ dry: true }],
    [null],
  ])('rejects invalid options: %j', async (options) => {
    const { inbox } = new InboxBench();
    await inbox.opened;
    const call = async (): Promise<unknown> => inbox.add({ body: '' }, options as never);
    await expect(call()).rejects.toThrow(/ERR_WBP_(ADD|UNKNOWN_OPTION)/);
  });
});

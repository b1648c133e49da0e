import type { ObservableOutbox } from '@webhook-backpressure/observe';
import { dashboard, type Change, type Dashboard } from '@webhook-backpressure/dashboard';
import { describe, expect, it } from 'vitest';
import { SenderBed } from '../sender/dispatch/bed.ts';
import { get, post, problemOf, stateOf } from './fixtures.ts';

interface Shown {
  readonly bed: SenderBed;
  readonly page: Dashboard;
  readonly changes: Change[];
}

/** A page of a sender, whose endpoint `bad` answers 400 and `busy` 429. */
function shown(allowUpdate = true): Shown {
  const bed = new SenderBed(({ url }) => {
    const status = url.includes('bad') ? 400 : url.includes('busy') ? 429 : 204;
    return new Response(null, { status, headers: { 'retry-after': '60' } });
  });
  const changes: Change[] = [];
  const page = dashboard({
    outboxes: { hooks: bed.sender },
    authorize: false,
    allowUpdate,
    clock: bed.clock,
    onChange: (change) => changes.push(change),
  });
  return { bed, page, changes };
}

async function pull(page: Dashboard, body: object): Promise<Response> {
  return await page.fetch(post('endpoint', { outbox: 'hooks', ...body }));
}

describe('the page of a sender', () => {
  it('has its endpoints, rates and history', async () => {
    const { bed, page } = shown();
    for (let count = 0; count < 3; count += 1) await bed.send(`ok${String(count)}`, 'ok');
    await bed.send('busy1', 'busy');
    await bed.settle();
    bed.clock.advance(1000);
    const { outboxes: senders } = await stateOf(page);
    const { snapshot, rates, history } = senders['hooks'] ?? {};
    expect(snapshot).toMatchObject({ state: 'accepting', depth: 1, totals: { delivered: 3 } });
    expect(snapshot?.endpoints).toMatchObject([
      { endpoint: 'ok', state: 'active', queued: 0, window: { delivered: 3 } },
      { endpoint: 'busy', state: 'waiting', queued: 1, window: { limited: 1 } },
    ]);
    expect(rates).toEqual({ accepted: 4, attempts: 4, delivered: 3, limited: 1, failed: 0 });
    expect(history?.series).toMatchObject({ state: ['accepting'], attempts: [4], depth: [1] });
    page.close();
    await bed.sender.close();
  });

  it('gets the hundred busiest endpoints of many', async () => {
    const { bed, page } = shown();
    for (let id = 0; id < 150; id += 1) await bed.send(`e${String(id)}`, `busy${String(id)}`);
    await bed.settle();
    expect(bed.sender.snapshot().endpoints).toHaveLength(150);
    const { outboxes: senders } = await stateOf(page);
    expect(senders['hooks']?.snapshot.endpoints).toHaveLength(100);
    page.close();
    await bed.sender.close();
  });

  it('pauses and resumes an endpoint, and reports both', async () => {
    const { bed, page, changes } = shown();
    expect((await pull(page, { endpoint: 'ok', action: 'pause' })).status).toBe(200);
    await bed.send('1', 'ok');
    await bed.settle();
    expect(bed.requests).toEqual([]);
    expect((await pull(page, { endpoint: 'ok', action: 'resume' })).status).toBe(200);
    await bed.run(1000);
    expect(bed.requests).toHaveLength(1);
    const change = { kind: 'outbox', name: 'hooks', endpoint: 'ok' };
    expect(changes).toMatchObject([
      { ...change, action: 'pause' },
      { ...change, action: 'resume' },
    ]);
    expect((await stateOf(page)).changes).toEqual(changes);
    page.close();
    await bed.sender.close();
  });

  it('sets a rate, and takes it back', async () => {
    const { bed, page, changes } = shown();
    await bed.send('1', 'busy');
    await bed.settle();
    expect((await pull(page, { endpoint: 'busy', action: 'rate', rate: { perMinute: 30 } })).status).toBe(
      200,
    );
    expect(bed.sender.endpoints.get('busy')?.setRatePerSecond).toBe(0.5);
    expect((await pull(page, { endpoint: 'busy', action: 'rate', rate: null })).status).toBe(200);
    expect(bed.sender.endpoints.get('busy')?.setRatePerSecond).toBe(10);
    expect(changes.map(({ rate }) => rate)).toEqual([{ perMinute: 30 }, null]);
    page.close();
    await bed.sender.close();
  });

  it.each([
    [{ outbox: 'other', endpoint: 'a', action: 'pause' }, 404, 'NOT_FOUND'],
    [{ action: 'pause' }, 400, 'BAD_REQUEST'],
    [{ endpoint: '', action: 'pause' }, 400, 'BAD_REQUEST'],
    [{ endpoint: 'a', action: 'delete' }, 400, 'BAD_REQUEST'],
    [{ endpoint: 'a', action: 'rate' }, 400, 'BAD_REQUEST'],
    [{ endpoint: 'a', action: 'rate', rate: { perSecond: -1 } }, 400, 'ERR_WBP_RATE'],
    [{ endpoint: 'a', action: 'rate', rate: { perSecond: 'ten' } }, 400, 'ERR_WBP_RATE'],
  ])('refuses %j', async (body, status, code) => {
    const { bed, page, changes } = shown();
    const answer = await pull(page, body);
    expect([answer.status, (await problemOf(answer)).code]).toEqual([status, code]);
    expect(changes).toEqual([]);
    page.close();
    await bed.sender.close();
  });

  it('changes nothing without allowUpdate', async () => {
    const { bed, page } = shown(false);
    expect((await pull(page, { endpoint: 'ok', action: 'pause' })).status).toBe(403);
    await bed.send('1', 'ok');
    await bed.settle();
    expect(bed.requests).toHaveLength(1);
    page.close();
    await bed.sender.close();
  });

  it('lists, shows, redrives and purges dead letters', async () => {
    const { bed, page, changes } = shown();
    await bed.send('1', 'bad');
    await bed.send('2', 'bad');
    await bed.settle();
    const list = (await (await page.fetch(get('dead?outbox=hooks'))).json()) as {
      readonly items: readonly { readonly key: string; readonly id: string }[];
    };
    expect(list.items).toMatchObject([
      { key: 'bad', id: '1' },
      { key: 'bad', id: '2' },
    ]);
    const item = await page.fetch(get('dead/item?outbox=hooks&key=bad&id=1'));
    expect(JSON.stringify(await item.json())).toContain('test');
    const redriven = await page.fetch(post('redrive', { outbox: 'hooks', key: 'bad', id: '1' }));
    expect(await redriven.json()).toEqual({ count: 1, isComplete: true });
    const purged = await page.fetch(post('purge', { outbox: 'hooks', key: 'bad', id: '2' }));
    expect(await purged.json()).toMatchObject({ count: 1 });
    expect(changes).toMatchObject([
      { kind: 'outbox', name: 'hooks', action: 'redrive', count: 1 },
      { kind: 'outbox', name: 'hooks', action: 'purge', count: 1 },
    ]);
    expect((await page.fetch(get('dead?outbox=other'))).status).toBe(404);
    page.close();
    await bed.sender.close();
  });

  it('closes open pages when the sender is closed', async () => {
    const { bed, page } = shown();
    const events = await page.fetch(get('events'));
    await bed.sender.close();
    bed.clock.advance(1000);
    await events.text();
    expect((await stateOf(page)).outboxes['hooks']?.snapshot.state).toBe('closed');
    page.close();
  });

  it('shows only senders', () => {
    const wrong = { sender: {} as ObservableOutbox };
    expect(() => dashboard({ outboxes: wrong, authorize: false })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_DASHBOARD_SOURCES' }) as Error,
    );
  });
});

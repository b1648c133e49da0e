import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { SenderBed } from './bed.ts';

const gone = (): Response => new Response(null, { status: 410 });

describe('a disabled endpoint', () => {
  it('is one that answers 410; its events become dead letters, and resume puts them back', async () => {
    const bed = new SenderBed(gone, { limits: { maxInFlight: 1 } });
    await Promise.all(Array.from({ length: 20 }, (_, n) => bed.send(String(n))));
    await bed.run(1000);
    expect(bed.requests).toHaveLength(1);
    expect(bed.events.find(({ type }) => type === 'disabled')).toMatchObject({
      endpoint: 'a',
      reason: 'gone',
    });
    expect(bed.sender.snapshot()).toMatchObject({
      depth: 0,
      deadLetters: 20,
      totals: { dead: 20, disabled: 1 },
    });
    await bed.send('late');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 21 });
    expect(bed.requests).toHaveLength(1);

    bed.answer = () => new Response(null, { status: 204 });
    await bed.sender.endpoints.resume('a');
    await bed.run(5000);
    expect(bed.types()).toContain('enabled');
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 0, totals: { delivered: 21 } });
  });

  it('moves events that wait for a retry to the dead-letter queue within seconds', async () => {
    const wait = (): Response => new Response(null, { status: 503, headers: { 'retry-after': '80000' } });
    const store = memoryStore();
    const bed = new SenderBed(({ id }) => (id === '3' ? gone() : wait()), { store });
    await Promise.all(Array.from({ length: 10 }, (_, n) => bed.send(String(n))));
    await bed.run(5000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 10 });
    expect(bed.requests.length).toBeLessThanOrEqual(10);
  });

  it('lets events wait that have no room in the dead-letter queue, and moves them later', async () => {
    const bed = new SenderBed(gone, { maxDeadLetters: 3 });
    const hasten = vi.spyOn(bed.store, 'hasten');
    await Promise.all(Array.from({ length: 10 }, (_, n) => bed.send(String(n))));
    await bed.run(200_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 7, deadLetters: 3 });
    expect(hasten.mock.calls.filter(([{ key }]) => key === 'a').length).toBeLessThanOrEqual(5);
    await bed.sender.deadLetters.purge('all');
    await bed.run(130_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 4, deadLetters: 3 });
  });

  it('cannot be made by an id that looks like the mark of a disabled one', async () => {
    const bed = new SenderBed(undefined, { limits: { url: 'https://a.example/' } });
    const id = 'wbp-disabled:gone:a';
    await expect(bed.send('1', id)).rejects.toMatchObject({ code: 'ERR_WBP_EVENT' });
    await expect(bed.sender.endpoints.pause(id)).rejects.toMatchObject({ code: 'ERR_WBP_ENDPOINT' });
    await expect(bed.sender.endpoints.resume(id)).rejects.toMatchObject({ code: 'ERR_WBP_ENDPOINT' });
    await bed.send('2', 'my-wbp-disabled:gone:a');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ totals: { delivered: 1 } });
  });

  it('keeps its events while the dead-letter queue is full', async () => {
    const bed = new SenderBed(gone, { maxDeadLetters: 2, limits: { maxInFlight: 1 } });
    await Promise.all(Array.from({ length: 5 }, (_, n) => bed.send(String(n))));
    await bed.run(10_000);
    expect(bed.requests).toHaveLength(1);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 3, deadLetters: 2 });
    await bed.sender.deadLetters.purge('all');
    await bed.run(130_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 1, deadLetters: 2, totals: { dead: 4 } });
  });

  it('stays disabled in the next process', async () => {
    const store = memoryStore();
    const first = new SenderBed(gone, { store });
    await first.send('1');
    await first.run(1000);
    const { pausedKeys } = await store.stats();
    expect(pausedKeys).toEqual(['wbp-disabled:gone:a']);
    await first.sender.close();
    const next = new SenderBed(undefined, { store }, first.clock);
    await next.send('2');
    await next.run(1000);
    expect(next.requests).toEqual([]);
    expect(next.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 2 });
  });

  it('gets its events again when another process has enabled it', async () => {
    const bed = new SenderBed(gone, { store: memoryStore() });
    await bed.send('1');
    await bed.run(1000);
    bed.answer = () => new Response(null, { status: 204 });
    await bed.store.resume('wbp-disabled:gone:a');
    await bed.send('2');
    await bed.run(100);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 1, totals: { delivered: 1 } });
  });

  it('is one that fails for disableAfterMs without a success', async () => {
    const bed = new SenderBed(() => new Response(null, { status: 500 }), { disableAfterMs: 3_600_000 });
    await bed.send('1');
    await bed.run(3_000_000, 10_000);
    expect(bed.types()).not.toContain('disabled');
    await bed.run(10_800_000, 10_000);
    expect(bed.events.find(({ type }) => type === 'disabled')).toMatchObject({ reason: 'failing' });
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 1 });
  });

  it('is no endpoint without settings: its events become dead letters until there are some', async () => {
    let exists = false;
    const endpoint = (): { url: string; secret: null } | null =>
      exists ? { url: 'https://a.example/', secret: null } : null;
    const bed = new SenderBed(undefined, { endpoint });
    await bed.send('1');
    await bed.run(1000);
    expect(await bed.sender.deadLetters.list()).toMatchObject([{ error: 'There is no such endpoint.' }]);
    expect(bed.events.find(({ type }) => type === 'disabled')).toMatchObject({ reason: 'unknown' });
    exists = true;
    bed.sender.endpoints.refresh('a');
    await bed.send('2');
    await bed.run(1000);
    expect(bed.requests.map(({ id }) => id)).toEqual(['2']);
    expect(bed.types().filter((type) => type === 'disabled' || type === 'enabled')).toEqual([
      'disabled',
      'enabled',
    ]);
  });
});

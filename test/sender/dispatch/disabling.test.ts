import { memoryStore } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

const gone = (): Response => new Response(null, { status: 410 });

describe('a disabled endpoint', () => {
  it('is one that answers 410; its events become dead letters, and resume brings them back', async () => {
    const bed = new SenderBed(gone, { limits: { maxInFlight: 1 } });
    await Promise.all(Array.from({ length: 20 }, (_, n) => bed.send(String(n))));
    await bed.run(1000);
    expect(bed.requests).toHaveLength(1);
    expect(bed.events.find(({ type }) => type === 'disabled')).toMatchObject({
      endpoint: 'a',
      reason: 'gone',
    });
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, shelved: 20, totals: { dead: 20, disabled: 1 } });
    await bed.send('late');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, shelved: 21 });
    expect(bed.requests).toHaveLength(1);

    bed.answer = () => new Response(null, { status: 204 });
    await bed.sender.endpoints.resume('a');
    await bed.run(5000);
    expect(bed.types()).toContain('enabled');
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, shelved: 0, totals: { delivered: 21 } });
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
    expect(next.sender.snapshot()).toMatchObject({ depth: 0, shelved: 2 });
  });

  it('gets its events again when another process has enabled it', async () => {
    const bed = new SenderBed(gone, { store: memoryStore() });
    await bed.send('1');
    await bed.run(1000);
    bed.answer = () => new Response(null, { status: 204 });
    await bed.store.resume('wbp-disabled:gone:a');
    await bed.send('2');
    await bed.run(100);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, shelved: 1, totals: { delivered: 1 } });
  });

  it('is one that fails for disableAfterMs without a success', async () => {
    const bed = new SenderBed(() => new Response(null, { status: 500 }), { disableAfterMs: 3_600_000 });
    await bed.send('1');
    await bed.run(3_000_000, 1000);
    expect(bed.types()).not.toContain('disabled');
    await bed.run(10_800_000, 5000);
    expect(bed.events.find(({ type }) => type === 'disabled')).toMatchObject({ reason: 'failing' });
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, shelved: 1 });
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

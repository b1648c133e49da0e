import type { Put } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claim, delivery, LEASE, ROOMY, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { Threads } from './threads.ts';

let threads: Threads;
beforeEach(() => {
  threads = new Threads();
});
afterEach(() => threads.dispose());

const limits = { limits: ROOMY, nowMs: START };
const large = (id: string, bytes = 100_000): Put => ({
  delivery: delivery(id, { rawBody: new Uint8Array(bytes).fill(7) }),
  isOverflow: false,
});

describe('a body', () => {
  it('stays with the caller, and arrives with its own memory', async () => {
    const store = await threads.opened();
    const batch = [large('a'), large('b')];
    expect(await store.put(batch, limits)).toEqual(['stored', 'stored']);
    expect(batch.map(({ delivery: { rawBody } }) => rawBody.byteLength)).toEqual([100_000, 100_000]);
    for (const { rawBody } of await claim(store, 2)) {
      expect(rawBody.buffer.byteLength).toBe(100_000);
      expect(rawBody.every((byte) => byte === 7)).toBe(true);
    }
  });

  it('arrives with its own memory when its delivery is claimed by key', async () => {
    const store = await threads.opened();
    await store.put([large('a')], limits);
    const wants = [{ key: 'shop', count: 1, isHeadOnly: false }];
    const [got] = await store.claimKeys(wants, { leaseMs: LEASE, nowMs: START });
    const bodies = got?.claimed.map(({ rawBody }) => rawBody) ?? [];
    expect(bodies.map(({ buffer }) => buffer.byteLength)).toEqual([100_000]);
    expect(bodies[0]?.every((byte) => byte === 7)).toBe(true);
  });

  it('is copied if it is part of other memory', async () => {
    const store = await threads.opened();
    const pool = new Uint8Array(64_000).fill(1);
    const part = pool.subarray(1000, 21_000).fill(2);
    const small = Buffer.from('small');
    await store.put(
      [part, small].map((rawBody, at) => ({
        delivery: delivery(String(at), { rawBody }),
        isOverflow: false,
      })),
      limits,
    );
    expect([pool.byteLength, part.byteLength, small.toString()]).toEqual([64_000, 20_000, 'small']);
    const claimed = await claim(store, 2);
    expect(claimed.map(({ rawBody }) => [rawBody.byteLength, rawBody.buffer.byteLength])).toEqual([
      [20_000, 20_000],
      [5, 5],
    ]);
  });

  it('may be empty', async () => {
    const store = await threads.opened();
    // The memory of all but the first is nowhere, which Node 22 takes for NULL.
    const bodies = [new Uint8Array(), new TextEncoder().encode(''), structuredClone(new Uint8Array())];
    const puts = bodies.map((rawBody, at) => ({
      delivery: delivery(String(at), { rawBody }),
      isOverflow: false,
    }));
    expect(await store.put(puts, limits)).toEqual(['stored', 'stored', 'stored']);
    const claimed = await claim(store, 3);
    expect(claimed.map(({ rawBody }) => rawBody.byteLength)).toEqual([0, 0, 0]);
  });

  it('can be put again when its put fails', async () => {
    const store = await threads.opened();
    const batch = ['a', 'b', 'c'].map((id) => large(id));
    const bad = large('bad');
    Object.assign(bad.delivery, { rawBody: { byteLength: 20_000 } });
    await expect(async () => store.put([...batch, bad], limits)).rejects.toThrow('ERR_WBP_STORE_VALUE');
    expect(await store.put(batch.slice(0, 2), limits)).toEqual(['stored', 'stored']);
    expect(await store.put(batch.slice(2), limits)).toEqual(['stored']);
    for (const { rawBody } of await claim(store, 3)) expect(rawBody).toEqual(new Uint8Array(100_000).fill(7));
  });

  it('can be put again after its thread has died with it', async () => {
    const store = await threads.opened();
    const lost = large('lost');
    const failed = threads.crash(() => Promise.resolve(store.put([lost], limits)).catch(() => undefined));
    await failed;
    expect(await store.put([lost], limits)).toEqual(['stored']);
    expect((await claim(store, 1))[0]?.rawBody).toEqual(new Uint8Array(100_000).fill(7));
  });

  it('stays with the caller when another delivery of the batch cannot be sent', async () => {
    const store = await threads.opened();
    const good = large('good');
    const bad = large('bad');
    Object.assign(bad.delivery, { headers: { broken: () => undefined } });
    await expect(async () => store.put([good, bad], limits)).rejects.toThrow('could not be cloned');
    expect(await store.put([good], limits)).toEqual(['stored']);
  });
});

import { randomBytes } from 'node:crypto';
import type { EncryptOptions, InboxOptions, InboxStore, StoredDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { Encryption, encryptSettings } from '../../../../packages/inbox/src/encryption/encryption.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { delivery, START, storedBytes } from '../store/cases/store-fixtures.ts';

const [K1, K2] = [randomBytes(32), randomBytes(32)];
const THREE_DAYS_MS = 259_200_000;
const BODY = '{"card":"4242 4242"}';
const HEADERS = { 'x-token': 'geheim', authorization: 'Bearer geheim' };
const FIRST: EncryptOptions = { keys: { 'k-1': K1 } };
const ROTATED: EncryptOptions = { keys: { 'k-1': K1.toString('base64'), 'k-2': K2 }, current: 'k-2' };

/** Encryption runs outside the event loop, for an unknown number of turns. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turns(1);
}

const begun = (bench: InboxBench, count = 1): Promise<void> => until(() => bench.calls.length >= count);
const told = (bench: InboxBench, type: string): Promise<void> =>
  until(() => bench.events.some((event) => event.type === type));

/** An inbox whose deliveries outlive it, and the deliveries that were put into its store. */
function lifeOn(
  state: MemoryState,
  options: Partial<InboxOptions> = {},
  wallOffsetMs: number = START,
): { bench: InboxBench; stored: StoredDelivery[] } {
  const memory = new MemoryStore(state);
  const { put } = memory;
  const stored: StoredDelivery[] = [];
  const store = Object.assign(memory, {
    put: (...[batch, limits]: Parameters<InboxStore['put']>): ReturnType<MemoryStore['put']> => {
      stored.push(...batch.map((one) => one.delivery));
      return put(batch, limits);
    },
  });
  const bench = new InboxBench(
    { store, context: () => ({ tenant: 'geheim' }), retry: { attempts: 2 }, ...options },
    wallOffsetMs,
  );
  return { bench, stored };
}

async function close({ inbox, clock }: InboxBench): Promise<void> {
  const closing = inbox.close({ timeoutMs: 0 });
  await turns();
  clock.advance(0);
  await closing;
}

describe('an inbox that encrypts', () => {
  it('stores only key, id, sender and times in clear text', async () => {
    const { bench, stored } = lifeOn(new MemoryState(), { encrypt: FIRST, keyGenerator: () => 'shop' });
    await bench.deliver('a', BODY, HEADERS, { url: '/hooks/geheim?token=geheim', params: { t: 'geheim' } });
    expect(stored).toHaveLength(1);
    const [one] = stored as [StoredDelivery];
    expect(one).toMatchObject({
      id: 'a',
      key: 'shop',
      sealedBy: 'k-1',
      context: null,
      headers: {},
      request: { method: '', url: '', params: {} },
    });
    expect(Buffer.from(one.rawBody).toString('latin1')).not.toMatch(/geheim|4242|token/);
    expect(JSON.stringify({ ...one, rawBody: undefined })).not.toMatch(/geheim|4242/);
    expect(one.fingerprint?.byteLength).toBe(16);
    expect(bench.inbox.snapshot().bytes).toBe(storedBytes(one));
  });

  it('decrypts the delivery for each attempt, for onDead and for dead letters', async () => {
    const dead: string[] = [];
    const { bench } = lifeOn(new MemoryState(), {
      encrypt: FIRST,
      onDead: ({ text, headers, path }) => void dead.push(text(), headers['x-token'] ?? '', path),
    });
    await bench.deliver('a', BODY, HEADERS, { url: '/hooks?x', params: { t: 'b' } });
    await begun(bench);
    const expected = {
      method: 'POST',
      url: '/hooks?x',
      path: '/hooks',
      params: { t: 'b' },
      context: { tenant: 'geheim' },
      headers: { 'webhook-id': 'a', 'x-token': 'geheim' },
    };
    expect(bench.last.delivery).toMatchObject(expected);
    expect(bench.last.delivery.text()).toBe(BODY);
    await bench.last.fail();
    await bench.advance(10_000);
    await begun(bench, 2);
    expect([bench.calls.length, bench.last.delivery.text()]).toEqual([2, BODY]);
    await bench.last.fail();
    await until(() => dead.length > 0);
    expect(dead).toEqual([BODY, 'geheim', '/hooks']);
    const letter = await bench.inbox.deadLetters.get('a');
    expect(letter).toMatchObject(expected);
    expect(letter?.text()).toBe(BODY);
    const [listed] = await bench.inbox.deadLetters.list();
    expect(listed).toMatchObject({
      id: 'a',
      encryptedBy: 'k-1',
      headers: {},
      url: '',
      path: '',
      context: null,
    });
  });

  it('detects duplicates, and accepts an empty body and one of 1 MiB', async () => {
    const { bench } = lifeOn(new MemoryState(), { encrypt: FIRST });
    const bodies = { empty: '', large: 'x'.repeat(1 << 20) };
    for (const [at, [id, body]] of Object.entries(bodies).entries()) {
      expect((await bench.deliver(id, body)).status).toBe(200);
      await begun(bench, at + 1);
      expect(bench.last.delivery.text()).toBe(body);
      expect(JSON.parse((await bench.deliver(id, body)).body)).toMatchObject({ status: 'duplicate' });
    }
  });

  it('does not store a delivery that was answered while it was encrypted', async () => {
    const { bench, stored } = lifeOn(new MemoryState(), { encrypt: FIRST });
    let finish: (sealed: ArrayBuffer) => void = () => undefined;
    const encrypt = vi.spyOn(crypto.subtle, 'encrypt').mockImplementation(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const sending = bench.send('a', BODY);
    await until(() => encrypt.mock.calls.length > 0);
    await bench.advance(9000);
    expect((await sending)?.body).toContain('"wait"');
    finish(new ArrayBuffer(32));
    encrypt.mockRestore();
    // A later delivery has overtaken it.
    expect((await bench.deliver('b', BODY)).status).toBe(200);
    expect(stored.map(({ id }) => id)).toEqual(['b']);
  });
});

describe('a change of keys', () => {
  it('keeps deliveries readable that an older key encrypted, or that were never encrypted', async () => {
    const state = new MemoryState();
    for (const [id, encrypt] of [
      ['plain', undefined],
      ['old', FIRST],
    ] as const) {
      const { bench } = lifeOn(state, { encrypt, concurrency: 1 });
      await bench.deliver(id, BODY);
      await begun(bench);
      await close(bench);
    }
    const { bench, stored } = lifeOn(state, { encrypt: ROTATED, concurrency: 5 });
    await bench.deliver('new', BODY);
    await begun(bench, 3);
    expect(bench.calls.map(({ delivery: one }) => [one.id, one.text()]).sort()).toEqual([
      ['new', BODY],
      ['old', BODY],
      ['plain', BODY],
    ]);
    expect(stored.map(({ sealedBy }) => sealedBy)).toEqual(['k-2']);
  });

  it('loses no delivery whose key is missing: it is retried, then a dead letter, and redriven with the key', async () => {
    const state = new MemoryState();
    const before = lifeOn(state, { encrypt: FIRST, concurrency: 1 });
    await before.bench.deliver('a', BODY);
    await begun(before.bench);
    await close(before.bench);

    const dead: string[] = [];
    const onDead: InboxOptions['onDead'] = ({ text }, error) => void dead.push(text(), error);
    // Before, attempts without the key do not count.
    const without = lifeOn(state, { onDead }, START + THREE_DAYS_MS);
    await told(without.bench, 'failed');
    expect(without.bench.events.filter(({ type }) => type === 'failed')).toMatchObject([
      {
        id: 'a',
        error: expect.stringMatching(/the key "k-1", which is not among.*ERR_WBP_DECRYPT/) as string,
      },
    ]);
    await turns();
    await without.bench.advance(10_000);
    await until(() => dead.length > 0);
    expect(without.bench.calls).toEqual([]);
    expect(dead).toEqual(['', expect.stringContaining('ERR_WBP_DECRYPT')]);
    await expect(without.bench.inbox.deadLetters.get('a')).rejects.toMatchObject({ code: 'ERR_WBP_DECRYPT' });
    expect(await without.bench.inbox.deadLetters.list()).toMatchObject([{ id: 'a', encryptedBy: 'k-1' }]);
    await close(without.bench);

    const after = lifeOn(state, { encrypt: ROTATED });
    expect(await after.bench.inbox.deadLetters.redrive('a')).toBe(1);
    await begun(after.bench);
    expect(after.bench.last.delivery.text()).toBe(BODY);
  });
});

describe('Encryption', () => {
  const encryption = (encrypt: EncryptOptions): Encryption => new Encryption(encryptSettings(encrypt));
  const plain = delivery('a', { sender: 'stripe' });

  it('produces other bytes each time, and the same fingerprint for the same body, id and key', async () => {
    const first = encryption(FIRST);
    const one = await first.encrypt(plain);
    const [again, other, body, ofOtherKey] = await Promise.all([
      first.encrypt(plain),
      first.encrypt({ ...plain, id: 'b' }),
      first.encrypt({ ...plain, rawBody: Uint8Array.of(1) }),
      encryption({ keys: { 'k-1': K2 } }).encrypt(plain),
    ]);
    expect(Buffer.from(one.rawBody).equals(again.rawBody)).toBe(false);
    expect(again.fingerprint).toEqual(one.fingerprint);
    // So that a reader of the store can neither detect equal bodies nor guess one.
    for (const { fingerprint } of [other, body, ofOtherKey]) expect(fingerprint).not.toEqual(one.fingerprint);
  });

  it('rejects data that was changed or moved to another delivery', async () => {
    const first = encryption(FIRST);
    const one = await first.encrypt(plain);
    const bytes = one.rawBody.byteLength;
    const changed = [0, 1, 13, bytes - 17, bytes - 1].map((at) => {
      const rawBody = Uint8Array.from(one.rawBody);
      rawBody[at] = (rawBody[at] ?? 0) ^ 1;
      return { ...one, rawBody };
    });
    const moved = [{ key: 'other' }, { id: 'b' }, { sender: undefined }, { sender: 'shop' }].map((part) => ({
      ...one,
      ...part,
    }));
    const short = [0, 1, 12, 13, 28, bytes - 1].map((end) => ({
      ...one,
      rawBody: one.rawBody.subarray(0, end),
    }));
    for (const wrong of [...changed, ...moved, ...short]) {
      await expect(first.decrypt(wrong)).rejects.toMatchObject({ code: 'ERR_WBP_DECRYPT' });
    }
    const ofOtherKey = encryption({ keys: { 'k-1': K2 } });
    await expect(ofOtherKey.decrypt(one)).rejects.toThrow('the key or the stored data has changed');
    const renamed = encryption({ keys: { 'k-2': K1 } });
    await expect(renamed.decrypt({ ...one, sealedBy: 'k-2' })).rejects.toMatchObject({
      code: 'ERR_WBP_DECRYPT',
    });
    expect(await first.decrypt(one)).toMatchObject({
      id: 'a',
      headers: plain.headers,
      rawBody: plain.rawBody,
    });
  });

  it('keeps headers and params of any name', async () => {
    const headers = Object.fromEntries([['__proto__', 'x']]);
    const request = { method: 'POST', url: '/', params: Object.fromEntries([['__proto__', 'y']]) };
    const first = encryption(FIRST);
    const opened = await first.decrypt(
      await first.encrypt({ ...plain, headers, request, context: { a: '\ud800' } }),
    );
    expect(Object.entries(opened.headers)).toEqual([['__proto__', 'x']]);
    expect(Object.entries(opened.request.params)).toEqual([['__proto__', 'y']]);
    expect(opened.context).toEqual({ a: '\ud800' });
  });
});

describe('the option encrypt', () => {
  it.each([
    [null, 'encrypt must be an object'],
    [{}, 'encrypt.keys must be an object'],
    [{ keys: {} }, 'encrypt.current must be an id in encrypt.keys'],
    [
      { keys: { a: undefined } },
      'encrypt.keys["a"] must be 32 bytes, or base64 of 32 bytes, but was of type undefined',
    ],
    [{ keys: { a: '' } }, 'but was a string of length 0'],
    [{ keys: { a: 'geheimgeheim' } }, 'but was a string of length 12'],
    [{ keys: { a: randomBytes(16) } }, 'but was 16 bytes'],
    [{ keys: { '': K1 } }, 'The ids in encrypt.keys'],
    [{ keys: { 'a b': K1 } }, 'The ids in encrypt.keys'],
    [{ keys: { a: K1, b: K2 } }, 'encrypt.current must be'],
    [{ keys: { a: K1 }, current: 'b' }, 'encrypt.current must be'],
    [{ keys: { a: K1 }, current: '__proto__' }, 'encrypt.current must be'],
  ])('rejects an invalid value: %s', (encrypt, says) => {
    const make = (): InboxBench => new InboxBench({ encrypt: encrypt as EncryptOptions });
    expect(make).toThrow(says);
    expect(make).toThrow('ERR_WBP_ENCRYPT');
    expect(make).toThrow(/^(?!.*geheim)/);
  });

  it('copies the keys, so that the originals can be wiped', async () => {
    const key = randomBytes(32);
    const first = new Encryption(encryptSettings({ keys: { a: key } }));
    const same = new Encryption(encryptSettings({ keys: { a: Uint8Array.from(key) } }));
    key.fill(0);
    const plain = delivery('a');
    expect(await same.decrypt(await first.encrypt(plain))).toMatchObject({ rawBody: plain.rawBody });
  });
});

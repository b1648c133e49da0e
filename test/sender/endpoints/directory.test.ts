import { describe, expect, it } from 'vitest';
import { directoryOf, GOOD, settled, TTL_MS } from './directory-fixture.ts';

describe('the directory of endpoints', () => {
  it('asks once for an endpoint, and reports when its settings are known', async () => {
    const { directory, calls, changed, last, urlOf } = directoryOf();
    expect(directory.get('a')).toBeUndefined();
    expect(directory.get('a')).toBeUndefined();
    expect(calls).toHaveLength(1);
    await last().answer(GOOD);
    expect(changed).toEqual(['a']);
    expect(urlOf('a')).toBe('/');
    expect(calls).toHaveLength(1);
  });

  it('returns the result of a synchronous function immediately', () => {
    const { changed, urlOf } = directoryOf((id) => ({ ...GOOD, url: `https://example.com/${id}` }));
    expect(urlOf('a')).toBe('/a');
    expect(changed).toEqual([]);
  });

  it('asks again after the TTL while the old settings stay in use, and reports only a change', async () => {
    const { clock, directory, calls, changed, last, urlOf } = directoryOf();
    directory.get('a');
    await last().answer(GOOD);
    clock.advance(TTL_MS - 1);
    expect(urlOf('a')).toBe('/');
    expect(calls).toHaveLength(1);
    clock.advance(1);
    const before = directory.get('a');
    expect(calls).toHaveLength(2);
    await last().answer({ ...GOOD });
    expect(directory.get('a')).toBe(before);
    expect(changed).toEqual(['a']);
    clock.advance(TTL_MS);
    expect(urlOf('a')).toBe('/');
    await last().answer({ ...GOOD, url: 'https://example.com/new' });
    expect(changed).toEqual(['a', 'a']);
    expect(urlOf('a')).toBe('/new');
  });

  it.each([
    ['a secret', { secret: 'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0' }],
    ['a rate', { rate: { perSecond: 3 } }],
    ['a burst', { burst: 3 }],
    ['a limit of requests in flight', { maxInFlight: 3 }],
    ['batches', { batch: {} }],
    ['the order', { ordered: true }],
  ])('tells of a change of %s', async (_, change) => {
    const { clock, directory, changed, last } = directoryOf();
    directory.get('a');
    await last().answer(GOOD);
    clock.advance(TTL_MS);
    directory.get('a');
    await last().answer({ ...GOOD, ...change });
    expect(changed).toEqual(['a', 'a']);
  });

  it('asks before the next attempt after a refresh, also when a call was running', async () => {
    const { directory, calls, changed, last, urlOf } = directoryOf();
    directory.get('a');
    const first = last();
    directory.refresh('a');
    expect(calls).toHaveLength(1);
    await first.answer({ ...GOOD, url: 'https://example.com/old' });
    expect(calls).toHaveLength(2);
    expect(directory.get('a')).toBeUndefined();
    await last().answer({ ...GOOD, url: 'https://example.com/new' });
    expect(urlOf('a')).toBe('/new');
    directory.refresh('a');
    expect(directory.get('a')).toBeUndefined();
    expect(calls).toHaveLength(3);
    changed.length = 0;
    await last().answer({ ...GOOD, url: 'https://example.com/new' });
    // Unchanged, but the endpoint waits for it.
    expect(changed).toEqual(['a']);
  });

  it('ignores a refresh of an unknown endpoint', () => {
    const { directory, calls } = directoryOf();
    directory.refresh('a');
    expect(calls).toEqual([]);
  });

  it('asks immediately after a refresh, whatever the delay', async () => {
    const { directory, calls, last, urlOf } = directoryOf();
    directory.get('a');
    await last().fail('no');
    directory.refresh('a');
    expect(calls).toHaveLength(2);
    await last().answer(GOOD);
    expect(urlOf('a')).toBe('/');
  });

  it('returns null for an endpoint that does not exist, until it exists', async () => {
    const { clock, directory, changed, last, urlOf } = directoryOf();
    directory.get('a');
    await last().answer(null);
    expect(directory.get('a')).toBeNull();
    clock.advance(TTL_MS);
    expect(directory.get('a')).toBeNull();
    await last().answer(GOOD);
    expect(changed).toEqual(['a', 'a']);
    expect(urlOf('a')).toBe('/');
  });

  it('runs at most 50 calls, and asks for endpoints without settings before it renews others', async () => {
    const { clock, directory, calls } = directoryOf();
    directory.get('old');
    await calls[0]?.answer(GOOD);
    clock.advance(TTL_MS);
    for (let count = 0; count < 50; count += 1) directory.get(`a${String(count)}`);
    directory.get('old');
    directory.get('new');
    expect(calls).toHaveLength(51);
    await calls[1]?.answer(GOOD);
    expect(calls.at(-1)?.id).toBe('new');
    await calls[2]?.answer(GOOD);
    expect(calls.at(-1)?.id).toBe('old');
    expect(calls).toHaveLength(53);
  });

  it('does not ask for endpoints that lost their events while they waited for a place', async () => {
    const { directory, calls } = directoryOf();
    for (let count = 0; count < 60; count += 1) directory.get(String(count));
    for (let count = 50; count < 60; count += 1) directory.release(String(count));
    directory.get('55');
    for (const call of calls.slice(0, 50)) await call.answer(GOOD);
    expect(calls.slice(50).map(({ id }) => id)).toEqual(['55']);
    expect(directory.size).toBe(51);
  });

  it('asks for 20,000 endpoints in bounded time, and forgets all but 10,000 idle ones', async () => {
    const asked: string[] = [];
    const { directory, changed } = directoryOf((id) => {
      asked.push(id);
      return Promise.resolve(GOOD);
    });
    for (let count = 0; count < 20_000; count += 1) directory.get(String(count));
    expect(asked).toHaveLength(50);
    while (changed.length < 20_000) await settled();
    expect(asked).toHaveLength(20_000);
    for (let count = 0; count < 20_000; count += 1) directory.release(String(count));
    expect(directory.size).toBe(10_000);
  });

  it('treats names of object members as any other id', () => {
    const { urlOf } = directoryOf((id) => ({ ...GOOD, url: `https://example.com/${id}` }));
    for (const id of ['__proto__', 'constructor', 'toString']) expect(urlOf(id)).toBe(`/${id}`);
  });

  it('asks at every read with a TTL of 0', () => {
    let count = 0;
    const { urlOf } = directoryOf(() => ({ ...GOOD, url: `https://example.com/${String((count += 1))}` }), 0);
    expect([urlOf('a'), urlOf('a')]).toEqual(['/1', '/2']);
  });

  it('asks no more after close, and ignores late results', async () => {
    const { clock, directory, calls, changed, failures, last } = directoryOf();
    directory.get('a');
    directory.get('b');
    await last().fail('no');
    failures.length = 0;
    directory.close();
    await calls[0]?.answer(GOOD);
    directory.get('c');
    clock.advance(3_600_000);
    expect([changed, failures]).toEqual([[], []]);
    expect(calls).toHaveLength(2);
  });

  it('survives a function that calls back', () => {
    let depth = 0;
    const { directory, urlOf } = directoryOf((id): unknown => {
      depth += 1;
      directory.get(id);
      directory.refresh(id);
      directory.release(id);
      directory.get(id);
      return GOOD;
    });
    expect(urlOf('a')).toBe('/');
    expect(depth).toBe(1);
  });
});

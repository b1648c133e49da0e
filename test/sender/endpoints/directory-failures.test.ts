import { describe, expect, it } from 'vitest';
import { thrownValues } from '../../thrown-values.ts';
import { directoryOf, GOOD, TTL_MS } from './directory-fixture.ts';

describe('the directory of endpoints, when the function fails', () => {
  it('asks before the first attempt after an idle time, and uses the old settings only if that fails', async () => {
    const { clock, directory, calls, failures, last, urlOf } = directoryOf();
    directory.get('a');
    await last().answer(GOOD);
    directory.release('a');
    clock.advance(TTL_MS - 1);
    expect(urlOf('a')).toBe('/');
    directory.release('a');
    clock.advance(TTL_MS);
    expect(directory.get('a')).toBeUndefined();
    expect(calls).toHaveLength(2);
    await last().fail('The database is away.');
    expect(failures).toEqual([{ id: 'a', error: 'The database is away.', isKept: true }]);
    expect(urlOf('a')).toBe('/');
    // Between its retries an idle endpoint need not be asked for again.
    directory.release('a');
    expect(urlOf('a')).toBe('/');
    expect(calls).toHaveLength(2);
  });

  it('repeats a call that failed after a growing delay, and reports when the settings arrive', async () => {
    const { clock, directory, calls, changed, failures, last } = directoryOf();
    directory.get('a');
    await last().fail('no');
    const delays: number[] = [];
    for (let count = 1; count <= 9; count += 1) {
      const fromMs = clock.now();
      expect(directory.get('a')).toBeUndefined();
      while (calls.length === count && clock.advanceToNext());
      delays.push(clock.now() - fromMs);
      await last().fail('no');
    }
    expect(delays).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000, 45_000]);
    expect(failures.at(-1)).toEqual({ id: 'a', error: 'no', isKept: false });
    expect(changed).toEqual([]);
    while (calls.length === 10 && clock.advanceToNext());
    await last().answer(GOOD);
    expect(changed).toEqual(['a']);
    expect(directory.get('a')).not.toBeUndefined();
  });

  it('stops repeating for an endpoint without events, and forgets it', async () => {
    const { clock, directory, calls, last } = directoryOf();
    directory.get('a');
    await last().fail('no');
    directory.release('a');
    expect(directory.size).toBe(0);
    clock.advance(3_600_000);
    expect(calls).toHaveLength(1);
  });

  it('gives a call up after 10 s, and ignores its late answer', async () => {
    const { clock, directory, calls, changed, failures, last, urlOf } = directoryOf();
    directory.get('a');
    const slow = last();
    clock.advance(10_000);
    expect(failures).toEqual([{ id: 'a', error: 'endpoint() took longer than 10 s.', isKept: false }]);
    await slow.answer({ ...GOOD, url: 'https://example.com/late' });
    expect(changed).toEqual([]);
    expect(directory.get('a')).toBeUndefined();
    clock.advance(750);
    expect(calls).toHaveLength(2);
    await last().answer(GOOD);
    expect(urlOf('a')).toBe('/');
  });

  it.each([
    ['undefined', undefined, 'must be an object or null'],
    ['a string', 'https://example.com', 'must be an object'],
    ['an object without a URL', { secret: null }, 'url must be'],
    ['a private address', { ...GOOD, url: 'https://10.0.0.1' }, 'private'],
    ['a wrong rate', { ...GOOD, rate: 5 }, 'rate must be'],
  ])('keeps the last valid settings when the function returns %s', async (_, value, error) => {
    const { clock, directory, failures, last, urlOf } = directoryOf();
    directory.get('a');
    await last().answer(GOOD);
    clock.advance(TTL_MS);
    directory.get('a');
    await last().answer(value);
    expect(failures).toEqual([{ id: 'a', error: expect.stringContaining(error) as string, isKept: true }]);
    expect(urlOf('a')).toBe('/');
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    [
      'throws something without a prototype',
      () => {
        throw Object.create(null) as Error;
      },
    ],
    [
      'returns an object whose then throws',
      () => ({
        get then() {
          throw new Error('boom');
        },
      }),
    ],
    [
      'returns an object whose url throws',
      () => ({
        secret: null,
        get url() {
          throw new Error('boom');
        },
      }),
    ],
    ['returns a proxy that throws', () => new Proxy({}, { ownKeys: () => ['a', 'a'] })],
    ['returns a request', () => ({ method: 'GET', headers: {} })],
  ])('reports a failure when the function %s', (_, ask) => {
    const { directory, failures } = directoryOf(ask);
    expect(directory.get('a')).toBeUndefined();
    expect(failures).toHaveLength(1);
    expect(failures[0]?.isKept).toBe(false);
  });

  it('does not go on with null while the function fails: events would be given up', async () => {
    const { clock, directory, failures, last } = directoryOf();
    directory.get('a');
    await last().answer(null);
    clock.advance(TTL_MS);
    directory.get('a');
    await last().fail('no');
    expect(failures).toEqual([{ id: 'a', error: 'no', isKept: false }]);
    expect(directory.get('a')).toBeUndefined();
  });
});

it.each(thrownValues)(
  'the directory of endpoints reports %s that its function throws',
  async (_name, value) => {
    const { directory, failures, last } = directoryOf();
    directory.get('a');
    await last().fail(value());
    expect(failures).toEqual([{ id: 'a', error: expect.any(String) as string, isKept: false }]);
  },
);

import { describe, expect, it } from 'vitest';
import { prefixName, UrlPrefixes } from '../../../packages/sender/src/calls/url-prefixes.ts';

function found(prefixes: readonly string[], url: string): string | undefined {
  const all = new UrlPrefixes<string>();
  for (const prefix of prefixes) expect(all.add(new URL(prefix), prefix)).toBe(true);
  return all.find(new URL(url));
}

const ORIGIN = 'https://api.example.com/';
const V1 = 'https://api.example.com/v1';

describe('UrlPrefixes', () => {
  it.each([
    'https://api.example.com',
    'https://API.Example.com:443/v1',
    'https://user:secret@api.example.com/x?y#z',
    'https://api.example.com./x',
    'HTTPS:\\\\api.example.com\\v1',
  ])('finds the same origin in %s', (url) => {
    expect(found([ORIGIN], url)).toBe(ORIGIN);
  });

  it.each([
    'https://api.example.com.evil.example/',
    'https://api.example.com@evil.example/',
    'https://evil.example/https://api.example.com/',
    'https://evil.example?https://api.example.com/',
    'http://api.example.com/',
    'https://api.example.com:8443/',
    'https://notapi.example.com/',
    'data:text/plain,https://api.example.com/',
  ])('finds nothing for %s', (url) => {
    expect(found([ORIGIN, V1], url)).toBe(undefined);
  });

  it.each([
    ['https://api.example.com/v1', V1],
    ['https://api.example.com/v1/', V1],
    ['https://api.example.com/v1/charges', V1],
    ['https://api.example.com/v1?limit=1', V1],
    ['https://api.example.com/%76%31/charges', V1],
    ['https://api.example.com//v1//charges', V1],
    ['https://api.example.com/x/../v1/charges', V1],
    ['https://api.example.com/x/%2e%2E/v1', V1],
    ['https://api.example.com/v10', ORIGIN],
    ['https://api.example.com/V1', ORIGIN],
    ['https://api.example.com/v1%2Fcharges', ORIGIN],
    ['https://api.example.com/%zz/v1', ORIGIN],
    ['https://api.example.com/v1/%zz', V1],
    ['https://api.example.com/v1/deep/er/than/any/prefix', 'https://api.example.com/v1/deep/er'],
    ['https://api.example.com/v1/deep/err', V1],
  ])('compares whole segments, decoded, and takes the longest: %s', (url, prefix) => {
    expect(found([ORIGIN, 'https://api.example.com/v1/deep/er', V1], url)).toBe(prefix);
  });

  it('is quick with a path of 100,000 segments', () => {
    expect(found([ORIGIN, V1], `${V1}${'/a'.repeat(100_000)}`)).toBe(V1);
  });

  it('has one form of a prefix', () => {
    const all = new UrlPrefixes<number>();
    expect(all.add(new URL('https://api.example.com/v1/'), 1)).toBe(true);
    expect(all.add(new URL('https://API.example.com.:443/%761'), 2)).toBe(false);
    expect(prefixName(new URL('https://API.example.com.:443/%761/'))).toBe(V1);
    expect(prefixName(new URL(ORIGIN))).toBe(ORIGIN);
  });
});

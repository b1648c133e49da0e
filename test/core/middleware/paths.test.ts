import { describe, expect, it } from 'vitest';
import { OTHER_TARGETS } from '../../conformance/target-variants.ts';
import { control, POST } from './admission-controls.ts';

const passes = (path: string | readonly string[], target: string): unknown =>
  control({ path }).skips({ ...POST, target });

describe('path', () => {
  it.each([
    '',
    '*',
    'host.example:80',
    'http://host.example',
    'http://a?b/webhooks',
    'http:///webhooks',
    '/web\thooks',
  ])('counts the target %j, which routers read differently, as a delivery', (target) => {
    expect(passes('/webhooks', target)).toBe(false);
  });

  it('limits all targets with the path /', () => {
    expect(OTHER_TARGETS.filter((target) => passes('/', target))).toEqual([]);
  });

  it('ignores a slash at the end of the path, and its case', () => {
    expect(passes('/WebHooks/', '/webhooks')).toBe(false);
    expect(passes('/webhooks/', '/webhooks-admin')).toBe(true);
  });

  it('reads an escape that is nested a thousand times in linear time', () => {
    expect(passes('/webhooks', `/%${'25'.repeat(1000)}77ebhooks`)).toBe(false);
    expect(passes('/webhooks', `/${`%${'25'.repeat(1000)}`.repeat(8)}`)).toBe(true);
  });

  it.each([
    ['the empty string', ''],
    ['no slash at the start', 'webhooks'],
    ['a URL', 'https://shop.example/webhooks'],
    ['a parameter', '/webhooks/:tenant'],
    ['a wildcard', '/webhooks/*'],
    ['a query', '/webhooks?token'],
    ['an escape', '/%77ebhooks'],
    ['characters beyond ASCII', '/caf\u00E9'],
    ['two slashes at the start', '//webhooks'],
    ['a parent', '/api/../webhooks'],
    ['an empty list', []],
    ['a list with undefined', ['/webhooks', undefined as unknown as string]],
    ['a pattern', /webhooks/ as unknown as string],
  ])('rejects %s', (_what, path) => {
    expect(() => control({ path })).toThrow(expect.objectContaining({ code: 'ERR_WBP_PATH' }));
  });
});

import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { routeOf } from '../../packages/dashboard/src/requests/route.ts';
import { get, post, problemOf, watched } from './fixtures.ts';

const ROUTES = ['', 'state', 'events', 'dead?inbox=inbox', 'dead/item?inbox=inbox&id=a'];
const LEVERS = ['update', 'redrive', 'purge'];

const open = watched({ allowUpdate: true });
afterEach(() => {
  expect(open.errors).toEqual([]);
});

describe('the routes', () => {
  it.each(['', '/', '/ops/backpressure', '/ops/backpressure/', '/caf%C3%A9/page', '/v1.2/page'])(
    'serve the page at %j',
    (path) => {
      expect(routeOf(path, false)).toBe('page');
    },
  );

  it.each(['state', 'events', 'dead', 'dead/item', 'update', 'redrive', 'purge'])(
    'find %s below any prefix',
    (name) => {
      expect(routeOf(`/${name}`, false)).toBe(name);
      expect(routeOf(`/${name}`, true)).toBe(name);
      expect(routeOf(`/ops/backpressure/${name}`, false)).toBe(name);
      expect(routeOf(`/ops/backpressure/${name}`, true)).toBe(undefined);
    },
  );

  it.each([
    ...['/backpressure/../../etc/passwd', '/..', '/.', '/backpressure/..%2f..%2fetc%2fpasswd'],
    ...['/%2e%2e/x', '/a%5c..%5cb', '/a\\b', '/a%00', '/package.json', '/.env', '/favicon.ico', '/state/'],
  ])('serve nothing at %s', (path) => {
    expect(routeOf(path, false)).toBe(undefined);
    expect(routeOf(path, true)).toBe(undefined);
  });

  it.each(['page', 'constructor', '__proto__', 'toString', 'nonsense'])(
    'serve nothing at /%s below a mount',
    (name) => {
      expect(routeOf(`/${name}`, true)).toBe(undefined);
    },
  );
});

describe('an answer', () => {
  it.each(ROUTES)('at %j to GET has the security headers', async (path) => {
    const answer = await open.page.fetch(get(path));
    expectSecurity(answer);
    await answer.body?.cancel();
  });

  it.each([...LEVERS, 'nothing.here'])('at %s to POST has them too', async (path) => {
    expectSecurity(await open.page.fetch(post(path, {})));
  });

  it('is the page, which may only run its own script', async () => {
    const answer = await open.page.fetch(get());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await answer.text();
    expect(text).toMatch(/^<!doctype html>/i);
    const policy = answer.headers.get('content-security-policy');
    for (const element of ['script', 'style']) {
      const [, inside = ''] = new RegExp(`<${element}[^>]*>([^]*?)</${element}>`).exec(text) ?? [];
      expect(inside.length).toBeGreaterThan(1000);
      const hash = createHash('sha256').update(inside).digest('base64');
      expect(policy).toContain(`; ${element}-src 'sha256-${hash}';`);
    }
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toContain('unsafe');
  });

  it.each(ROUTES)('at %j refuses POST', async (path) => {
    const answer = await open.page.fetch(post(path, {}));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  it.each(LEVERS)('at %s refuses GET', async (path) => {
    const answer = await open.page.fetch(get(path));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  it.each([...ROUTES, ...LEVERS])('at %j does not answer a preflight', async (path) => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const request = new Request(`http://ops.example/${path}`, { method: 'OPTIONS', headers });
    const answer = await open.page.fetch(request);
    expect(answer.status).toBe(405);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('to HEAD has the headers alone', async () => {
    const request = new Request('http://ops.example/events', { method: 'HEAD' });
    const answer = await open.page.fetch(request);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.body).toBeNull();
  });

  it('is 404 with a code where nothing is', async () => {
    const answer = await open.page.fetch(get('package.json'));
    expect(answer.status).toBe(404);
    expect((await problemOf(answer)).code).toBe('NOT_FOUND');
  });

  it('is 503 after close', async () => {
    const { page } = watched();
    page.close();
    const answer = await page.fetch(get('state'));
    expect(answer.status).toBe(503);
    expect((await problemOf(answer)).code).toBe('CLOSED');
  });
});

function expectSecurity({ headers }: Response): void {
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cache-control')).toContain('no-store');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
}

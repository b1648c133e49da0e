import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { github } from '@webhook-backpressure/reconcile';
import { ReconcileBed } from './bed.ts';
import { FakeGitHub, HOOK } from './fake-github.ts';

let bed: ReconcileBed;
let api: FakeGitHub;

beforeEach(() => {
  bed = new ReconcileBed();
  api = new FakeGitHub({ wallMs: () => bed.wallMs });
});
afterEach(() => bed.close());

const source = () => github({ token: 'ghp_secret', hook: HOOK });

describe('reconcile(), with redirects', () => {
  const GONE = '/repositories/7/hooks/42/deliveries';
  const movedTo = (location: string) => () => new Response('', { status: 301, headers: { location } });

  it('follows those of a renamed repository', async () => {
    await api.happen('push', {}, 502);
    api.trouble = ({ url }) => {
      if (new URL(url).pathname === `${HOOK}/deliveries`) return movedTo(`${GONE}?per_page=100`)();
      return new Response(url.includes(GONE) ? '[]' : '{}');
    };
    bed.start({ source: source(), fetch: api.fetch });
    expect(await bed.result()).toMatchObject({ found: 0, requests: 2, error: undefined });
    expect(api.calls.at(-1)).toBe(`GET ${GONE}?per_page=100`);
  });

  it.each([
    ['to another host', 'https://evil.example/x', /evil\.example\/x is not at https:\/\/api\.github\.com/, 1],
    ['without encryption', 'http://api.github.com/x', /is not at/, 1],
    ['that do not end', `${HOOK}/deliveries`, /answered 301/, 6],
    ['without a valid address', 'https://', /answered 301/, 1],
  ])('follows none %s', async (_, location, message, requests) => {
    const redirects: unknown[] = [];
    const answer = movedTo(location);
    const fetch: typeof globalThis.fetch = (_input, init) => {
      redirects.push(init?.redirect);
      return Promise.resolve(answer());
    };
    bed.start({ source: source(), fetch });
    expect((await bed.result()).error).toMatch(message);
    // By itself `fetch` would follow them, and the answer of another host would be taken for GitHub's.
    expect(redirects).toEqual(Array(requests).fill('manual'));
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { github, reconcile } from '@webhook-backpressure/reconcile';
import { RunFetch } from '../../packages/reconcile/src/run-fetch.ts';
import { manualClock } from '@webhook-backpressure/core/testing';
import { ReconcileBed } from './bed.ts';
import { FakeGitHub, HOOK } from './fake-github.ts';

const TOKEN = 'ghp_secret';

let bed: ReconcileBed;
let api: FakeGitHub;

function setUp(...given: ConstructorParameters<typeof ReconcileBed>): void {
  bed = new ReconcileBed(...given);
  api = new FakeGitHub({ wallMs: () => bed.wallMs });
}

beforeEach(() => {
  setUp();
});
afterEach(async () => {
  await bed.close();
  vi.restoreAllMocks();
});

const source = () => github({ token: TOKEN, hook: HOOK });

describe('reconcile(), with an API in trouble', () => {
  it.each([
    [401, /answered 401. Its credential is invalid/, 1],
    [403, /answered 403. Its credential lacks a permission/, 1],
    [404, /answered 404. It does not exist/, 1],
    [500, /answered 500/, 3],
    [503, /answered 503/, 3],
  ])(
    'reports an answer of %i, adds nothing, and tries again sooner than usual',
    async (status, message, requests) => {
      await api.happen('push', {}, 502);
      api.trouble = () => new Response('<html>ghp_secret</html>', { status });
      bed.start({ source: source(), fetch: api.fetch, everyMs: 3_600_000 });
      const result = await bed.result();
      expect(result.error).toMatch(message);
      expect(result.error).not.toContain(TOKEN);
      expect(result).toMatchObject({ added: 0, requests });
      expect(result.mark).toEqual(result.since);
      const beganMs = bed.wallMs;
      api.trouble = () => undefined;
      expect(await bed.result()).toMatchObject({ added: 1, error: undefined });
      expect(bed.wallMs - beganMs).toBeLessThan(32_000);
    },
  );

  it('doubles the wait after each failed run, up to the usual one', async () => {
    api.trouble = () => new Response('', { status: 404 });
    bed.start({ source: source(), fetch: api.fetch });
    const waits: number[] = [];
    for (let lastMs = bed.wallMs; waits.length < 7; lastMs = bed.wallMs) {
      await bed.result();
      waits.push(Math.round((bed.wallMs - lastMs) / 1000));
    }
    expect(waits).toEqual([0, 30, 60, 120, 240, 300, 300]);
  });

  it.each([
    ['no JSON', 'hello', /did not answer with JSON/],
    ['another type', '{"message":"ok"}', /not a list/],
    ['items without fields', '[{"id":1}]', /no id, guid, event/],
    ['half of a list', '[{"id":1', /did not answer with JSON/],
  ])('reports %s', async (_, text, message) => {
    api.trouble = () => new Response(text);
    bed.start({ source: source(), fetch: api.fetch });
    expect((await bed.result()).error).toMatch(message);
  });

  it('waits for a Retry-After', async () => {
    await api.happen('push', {}, 502);
    let refusals = 3;
    api.trouble = () => {
      refusals -= 1;
      return refusals >= 0 ? new Response('', { status: 429, headers: { 'retry-after': '40' } }) : undefined;
    };
    const beganMs = bed.wallMs;
    const reconciler = bed.start({ source: source(), fetch: api.fetch });
    expect(await bed.result(reconciler.run())).toMatchObject({ added: 1, requests: 5, error: undefined });
    expect(bed.wallMs - beganMs).toBeGreaterThan(120_000);
  });

  it('ends the run when the token is revoked in the middle, and goes on with another one', async () => {
    for (let at = 0; at < 60; at += 1) await api.happen('push', { at }, 502);
    api.trouble = () => {
      if (api.calls.length === 31) api.token = 'ghp_other';
      return undefined;
    };
    let token = TOKEN;
    const withToken = github({ token: () => token, hook: HOOK });
    bed.start({ source: withToken, fetch: api.fetch });
    const result = await bed.result();
    expect(result).toMatchObject({ found: 39, added: 29, requests: 40 });
    expect(result.error).toMatch(/answered 401/);
    token = 'ghp_other';
    expect(await bed.result()).toMatchObject({ found: 60, missed: 31, added: 31, error: undefined });
    await bed.until(() => bed.handled.length === 60);
    expect(new Set(bed.ids).size).toBe(60);
  });

  it('goes on after an event that cannot be fetched, and asks for it again', async () => {
    const attempts = [];
    for (let at = 0; at < 5; at += 1) attempts.push(await api.happen('push', { at }, 502));
    const broken = attempts[1]?.id ?? '';
    api.trouble = ({ url }) => (url.endsWith(broken) ? new Response('', { status: 500 }) : undefined);
    bed.start({ source: source(), fetch: api.fetch, everyMs: 3_600_000 });
    expect(await bed.result()).toMatchObject({
      found: 5,
      added: 4,
      error: expect.stringMatching(/500/) as string,
    });
    await bed.pass(1_800_000);
    api.trouble = () => undefined;
    await bed.until(() => bed.handled.length === 5);
  });

  it('ends a list that shows the same page again', async () => {
    for (let at = 0; at < 150; at += 1) await api.happen('push', { at }, 200);
    const pages = [0, 100].map((from) => api.attempts.slice(from, from + 100));
    let asked = 0;
    const link = '<https://api.github.com/repos/acme/shop/hooks/42/deliveries?cursor=v1_next>; rel="next"';
    api.trouble = () => {
      const page = pages[asked++ % 2] ?? [];
      const items = page.map(({ id, guid, event }) => ({
        ...{ id, guid, event, status_code: 200, delivered_at: new Date(bed.wallMs).toISOString() },
      }));
      return new Response(JSON.stringify(items), { headers: { link } });
    };
    bed.start({ source: source(), fetch: api.fetch });
    const result = await bed.result();
    expect(result.error).toMatch(/same page again/);
    expect(result.requests).toBe(3);
  });

  it('ends an answer of more than 64 MiB', async () => {
    let chunks = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        chunks += 1;
        controller.enqueue(new Uint8Array(1 << 20));
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    const fetch = () => Promise.resolve(new Response(endless));
    const reconciler = bed.start({ source: source(), fetch });
    expect((await bed.result(reconciler.run())).error).toMatch(/more than 64 MiB/);
    expect(chunks).toBeLessThanOrEqual(67);
    expect(isCancelled).toBe(true);
  });

  it('makes at most 100,000 requests in a run', async () => {
    const fetch = vi.fn(() => Promise.resolve(new Response('')));
    const one = new RunFetch({
      clock: manualClock(),
      random: () => 0.5,
      fetch,
      sleep: () => Promise.resolve(),
    });
    one.requests = 99_999;
    await one.fetch('https://api.example.com/');
    await expect(one.fetch('https://api.example.com/')).rejects.toMatchObject({
      code: 'ERR_WBP_RECONCILE_API',
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('sets the mark by the clock of the API, if the own one is ahead', async () => {
    api.aheadMs = -7_200_000;
    const reconciler = bed.start({ source: source(), fetch: api.fetch });
    const { mark } = await bed.result(reconciler.run());
    expect(bed.wallMs - mark.getTime()).toBeGreaterThan(7_200_000);
    await api.happen('push', {}, 502);
    expect(await bed.result(reconciler.run())).toMatchObject({ added: 1 });
  });

  it('sets the mark by the own clock, if the one of the API is ahead', async () => {
    api.aheadMs = 7_200_000;
    const reconciler = bed.start({ source: source(), fetch: api.fetch });
    const { mark } = await bed.result(reconciler.run());
    expect(mark.getTime()).toBeLessThanOrEqual(bed.wallMs - 300_000);
  });

  it('ends a request that has no answer for 30 s', async () => {
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => {
          reject(new Error('aborted'));
        }),
      );
    const reconciler = bed.start({ source: source(), fetch });
    const result = await bed.result(reconciler.run());
    expect(result.error).toMatch(/did not answer within 30 s/);
    expect(result.tookMs).toBeGreaterThanOrEqual(30_000);
  });

  it('warns once of each kind without a listener, and lets the inbox warn as well', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    api.trouble = () => new Response('', { status: 401 });
    const quiet = bed.start({ source: source(), fetch: api.fetch });
    await bed.pass(1_000_000);
    expect(warn).not.toHaveBeenCalled();
    await quiet.close();
    const { clock, inbox } = bed.bench;
    const alone = reconcile({ inbox, clock, source: source(), fetch: api.fetch });
    await bed.pass(2_000_000);
    await alone.close();
    const codes = warn.mock.calls.map(([, options]) => (options as unknown as { code: string }).code);
    expect(codes).toEqual(['WBP_RECONCILE_FAILED']);
  });
});

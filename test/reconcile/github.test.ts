import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { github } from '@webhook-backpressure/reconcile';
import { ReconcileBed } from './bed.ts';
import { FakeGitHub, GITHUB, HOOK } from './fake-github.ts';

const TOKEN = 'ghp_secret';

let bed: ReconcileBed;
let api: FakeGitHub;

function setUp(inbox: ConstructorParameters<typeof ReconcileBed>[0] = {}, contentType?: string): void {
  bed = new ReconcileBed(inbox);
  api = new FakeGitHub({
    wallMs: () => bed.wallMs,
    send: (request) => bed.receive(request),
    ...(contentType !== undefined && { contentType }),
  });
}

beforeEach(() => {
  setUp();
});
afterEach(() => bed.close());

const source = (more: Partial<Parameters<typeof github>[0]> = {}) =>
  github({ token: TOKEN, hook: HOOK, ...more });

describe('github()', () => {
  it('adds what was not delivered, the oldest first, as a delivery has it', async () => {
    const payload = { action: 'opened', text: 'Grüße, 世界 🚀', number: 7 };
    await api.happen('issues', payload);
    const first = await api.happen('issues', { ...payload, number: 8 }, 502);
    await bed.pass(1000);
    const second = await api.happen('push', { ...payload, number: 9 }, 0);
    const reconciler = bed.start({ source: source(), fetch: api.fetch });
    const result = await bed.result(reconciler.run());
    await bed.until(() => bed.handled.length === 3);
    expect(result).toMatchObject({ found: 2, missed: 2, added: 2, requested: 0, skipped: 0, requests: 3 });
    expect(result.error).toBeUndefined();
    const [received, one, other] = bed.handled;
    expect([one?.id, other?.id]).toEqual([first.guid, second.guid]);
    expect(one?.text()).toBe(JSON.stringify({ ...payload, number: 8 }));
    expect(one).toMatchObject({
      key: received?.key,
      sender: received?.sender,
      headers: { ...received?.headers, 'x-github-delivery': first.guid },
    });
    expect(Object.keys(one?.headers ?? {}).sort()).toEqual(Object.keys(received?.headers ?? {}).sort());
    expect(api.calls).toEqual([
      `GET ${HOOK}/deliveries?per_page=100`,
      `GET ${HOOK}/deliveries/${first.id}`,
      `GET ${HOOK}/deliveries/${second.id}`,
    ]);
  });

  it('encodes the body as the hook does', async () => {
    setUp({}, 'application/x-www-form-urlencoded');
    await api.happen('issues', { text: 'a b+c&d=ü' });
    await api.happen('issues', { text: 'a b+c&d=ü' }, 502);
    bed.start({ source: source(), fetch: api.fetch });
    await bed.until(() => bed.handled.length === 2);
    expect(bed.handled[1]?.text()).toBe(bed.handled[0]?.text());
  });

  it('asks only for events that the inbox does not have, and reads the list from the mark on', async () => {
    for (let at = 0; at < 150; at += 1) await api.happen('push', { at }, at % 5 === 0 ? 502 : undefined);
    const reconciler = bed.start({ source: source(), fetch: api.fetch, everyMs: 600_000 });
    expect(await bed.result(reconciler.run())).toMatchObject({
      found: 30,
      missed: 30,
      added: 30,
      requests: 32,
    });
    expect(bed.results).toHaveLength(1);
    // The runs overlap by 5 minutes: 2 pages, and no event again.
    expect(await bed.result()).toMatchObject({ found: 30, missed: 0, requests: 2 });
    expect(bed.results[1]?.since).toEqual(bed.results[0]?.mark);
    expect(await bed.result()).toMatchObject({ found: 0, missed: 0, requests: 1 });
    await bed.until(() => bed.handled.length === 150);
    expect(new Set(bed.ids).size).toBe(150);
  });

  it('asks for no event again after a restart, whose first run begins as early', async () => {
    for (let at = 0; at < 150; at += 1) await api.happen('push', { at }, at % 5 === 0 ? 502 : undefined);
    await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    const again = bed.start({ source: source(), fetch: api.fetch });
    expect(await bed.result(again.run())).toMatchObject({ found: 30, missed: 0, added: 0, requests: 2 });
  });

  it('adds an event of two attempts once, and none that was redelivered', async () => {
    const { guid, id } = await api.happen('push', { at: 1 }, 502);
    await api.happen('push', { at: 2 }, 502);
    api.attempts.unshift({
      ...(api.attempts[0] as (typeof api.attempts)[0]),
      id: `${id}9`,
      redelivery: true,
    });
    // Another receiver has acknowledged it, so this inbox does not know it.
    const done = api.attempts.find((attempt) => attempt.guid === guid);
    if (done !== undefined) api.attempts.unshift({ ...done, id: '7', redelivery: true, statusCode: 200 });
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result).toMatchObject({ found: 1, missed: 1, added: 1 });
  });

  it('asks GitHub to deliver it again, until the inbox has it', async () => {
    let isUp = false;
    setUp();
    api = new FakeGitHub({
      wallMs: () => bed.wallMs,
      send: (request) => (isUp ? bed.receive(request) : Promise.resolve(502)),
    });
    const { guid, id } = await api.happen('push', { at: 1 });
    const reconciler = bed.start({ source: source({ redeliver: true }), fetch: api.fetch });
    const first = await bed.result(reconciler.run());
    expect(first).toMatchObject({ found: 1, missed: 1, added: 0, requested: 1 });
    expect(api.calls.at(-1)).toBe(`POST ${HOOK}/deliveries/${id}/attempts`);
    // The redelivery failed, so the mark stays, however much later it is.
    await bed.pass(3_600_000);
    expect(bed.results.at(-1)).toMatchObject({ found: 1, missed: 1, requested: 1 });
    isUp = true;
    await bed.until(() => bed.handled.length === 1);
    expect(await bed.result(reconciler.run())).toMatchObject({ found: 0, requested: 0 });
    expect(bed.ids).toEqual([guid]);
  });

  it('uses the key and the id that the inbox gives a received delivery', async () => {
    setUp({
      keyGenerator: ({ json }) => `repo-${String((json() as { repo: number }).repo)}`,
      id: ({ headers }) => `gh-${String(headers['x-github-delivery'])}`,
    });
    const known = await api.happen('push', { repo: 1 });
    api.attempts[0] = { ...known, statusCode: 502 };
    const missed = await api.happen('push', { repo: 2 }, 502);
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    await bed.until(() => bed.handled.length === 2);
    // The key is in the body, so that both are fetched.
    expect(result).toMatchObject({ found: 2, added: 1, requests: 3 });
    expect(bed.handled.map(({ key, id }) => [key, id])).toEqual([
      ['repo-1', `gh-${known.guid}`],
      ['repo-2', `gh-${missed.guid}`],
    ]);
  });

  it('says in a dry run what is missing, from the list alone', async () => {
    await api.happen('push', { at: 1 });
    const known = api.attempts[0];
    if (known !== undefined) api.attempts[0] = { ...known, statusCode: 502 };
    const { guid } = await api.happen('push', { at: 2 }, 502);
    const reconciler = bed.start({ source: source(), fetch: api.fetch, dryRun: true });
    const result = await bed.result(reconciler.run());
    expect(result).toMatchObject({ found: 2, missed: 1, added: 0, requests: 1 });
    const missed = bed.events.filter(({ type }) => type === 'missed');
    expect(missed).toMatchObject([{ id: guid, sender: 'github' }]);
    // It is still missing, and still shown.
    expect(await bed.result(reconciler.run())).toMatchObject({ found: 2, missed: 1, mark: result.since });
    expect(bed.handled).toHaveLength(1);
  });

  it.each([
    ['a token with a line break', { token: 'ghp_secret\n' }],
    ['a number', { token: 7 }],
    ['no token', { token: undefined }],
    ['no hook', { hook: [] }],
    ['a hook with a query', { hook: `${HOOK}?per_page=1` }],
    ['a hook that leaves its path', { hook: '/repos/../user/hooks/1/..' }],
    ['a base URL with credentials', { baseUrl: 'https://me:ghp_secret@github.example' }],
    ['a misspelled option', { hooks: HOOK }],
  ])('rejects %s, without showing a secret', (_, options) => {
    const create = (): unknown => source(options as never);
    expect(create).toThrow(/ERR_WBP_(RECONCILE_SOURCE|UNKNOWN_OPTION)/);
    expect(create).not.toThrow(/ghp_secret/);
  });

  it('reports what a token function returns that is no token, without showing it', async () => {
    const token = (): Promise<string> => Promise.resolve('ghp secret');
    const result = await bed.result(bed.start({ source: source({ token }), fetch: api.fetch }).run());
    expect(result.error).toMatch(/credential must be/);
    expect(result.error).not.toContain('ghp secret');
    expect(api.calls).toEqual([]);
  });

  it('calls the token function for each request', async () => {
    await api.happen('push', { at: 1 }, 502);
    let calls = 0;
    const token = (): Promise<string> => Promise.resolve(`jwt.${String((calls += 1))}`);
    api.trouble = (request) => {
      api.token = `jwt.${String(api.calls.length)}`;
      return request.headers.get('user-agent') === 'webhook-backpressure'
        ? undefined
        : new Response('', { status: 403 });
    };
    const result = await bed.result(bed.start({ source: source({ token }), fetch: api.fetch }).run());
    expect(result).toMatchObject({ added: 1, requests: 2, error: undefined });
  });

  it('waits for the next hour when the limit of requests is used up', async () => {
    api = new FakeGitHub({ wallMs: () => bed.wallMs, limit: 20 });
    for (let at = 0; at < 50; at += 1) await api.happen('push', { at });
    const beganMs = bed.wallMs;
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result).toMatchObject({ added: 50, error: undefined });
    expect(result.requests).toBeLessThanOrEqual(53);
    expect(bed.wallMs - beganMs).toBeGreaterThan(2 * 3_600_000);
    expect(bed.wallMs - beganMs).toBeLessThan(3.2 * 3_600_000);
  });

  it('spreads its requests over the hour, as GitHub states its limit', async () => {
    for (let at = 0; at < 100; at += 1) await api.happen('push', { at }, 502);
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result).toMatchObject({ added: 100, requests: 101 });
    expect(result.tookMs).toBeGreaterThan(60_000);
    expect(result.tookMs).toBeLessThan(80_000);
  });

  it('does not send its token to the host of another next page', async () => {
    await api.happen('push', { at: 1 }, 502);
    api.trouble = () =>
      new Response('[]', { headers: { link: '<https://evil.example/deliveries?cursor=1>; rel="next"' } });
    // An empty page is the last.
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result).toMatchObject({ requests: 1, error: undefined });
    const item = JSON.stringify([
      { id: 1, guid: 'g', event: 'push', delivered_at: new Date(bed.wallMs), status_code: 200 },
    ]);
    api.trouble = () =>
      new Response(item, { headers: { link: '<https://evil.example/deliveries?cursor=1>; rel="next"' } });
    const next = await bed.result();
    expect(next).toMatchObject({ requests: 1 });
    expect(next.error).toContain(`GET https://evil.example/deliveries is not at ${GITHUB}.`);
  });
});

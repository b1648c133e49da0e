import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FoundEvent, github, type ReconcileResult, type Source } from '@webhook-backpressure/reconcile';
import { ReconcileBed } from './bed.ts';
import { FakeGitHub, HOOK } from './fake-github.ts';

let bed: ReconcileBed;
let api: FakeGitHub;

function setUp(...given: ConstructorParameters<typeof ReconcileBed>): void {
  bed = new ReconcileBed(...given);
  api = new FakeGitHub({ wallMs: () => bed.wallMs });
}

beforeEach(() => {
  setUp();
});
afterEach(() => bed.close());

const source = (more: Partial<Parameters<typeof github>[0]> = {}) =>
  github({ token: 'ghp_secret', hook: HOOK, ...more });

const listOf = (...events: readonly unknown[]): Source =>
  async function* () {
    for (const event of events) yield await Promise.resolve(event as FoundEvent);
  };

const found = (id: string, more: Partial<FoundEvent> = {}): FoundEvent => ({
  ...{ id, at: new Date(bed.wallMs), sender: 'erp', body: `{"id":"${id}"}` },
  ...more,
});

const never = (): Promise<never> => new Promise(() => undefined);
const posts = (): string[] => api.calls.filter((call) => call.startsWith('POST'));

describe('reconcile(), with one failure among many events', () => {
  it('adds the events behind ten that can never be fetched', async () => {
    const broken = new Set<string>();
    for (let at = 0; at < 10; at += 1) broken.add((await api.happen('push', { at }, 502)).id);
    await bed.pass(1000);
    for (let at = 0; at < 5; at += 1) await api.happen('push', { at }, 502);
    api.trouble = ({ url }) =>
      broken.has(url.split('/').at(-1) ?? '') ? new Response('', { status: 404 }) : undefined;
    bed.start({ source: source(), fetch: api.fetch });
    const first = await bed.result();
    expect(first).toMatchObject({
      added: 0,
      mark: first.since,
      error: expect.stringMatching(/404/) as string,
    });
    const second = await bed.result();
    expect(second).toMatchObject({ found: 15, added: 5, error: first.error });
    // The next run lists them again.
    expect(second.mark.getTime()).toBeLessThan(api.attempts.at(-1)?.deliveredAtMs ?? 0);
  });

  it('fetches the events of a hook, although another one was deleted', async () => {
    await api.happen('push', { at: 1 }, 502);
    const hook = ['/repos/acme/gone/hooks/1', HOOK];
    bed.start({ source: source({ hook }), fetch: api.fetch });
    const result = await bed.result();
    expect(result).toMatchObject({ added: 1, mark: result.since });
    expect(result.error).toMatch(/gone\/hooks\/1\/deliveries answered 404/);
  });

  it('asks for no further hook with a token that is invalid', async () => {
    api.token = 'ghp_other';
    bed.start({ source: source({ hook: [HOOK, '/repos/acme/other/hooks/1'] }), fetch: api.fetch });
    expect(await bed.result()).toMatchObject({ requests: 1 });
  });

  it('repeats a request of a list that fails in the middle', async () => {
    for (let at = 0; at < 600; at += 1) await api.happen('push', { at }, at % 60 === 0 ? 502 : 200);
    let requests = 0;
    api.trouble = () => {
      requests += 1;
      if (requests % 4 === 0) return new Response('', { status: 502 });
      if (requests % 5 === 0) throw new TypeError('fetch failed');
      return undefined;
    };
    bed.start({ source: source(), fetch: api.fetch });
    expect(await bed.result()).toMatchObject({ found: 10, added: 10, error: undefined });
  });

  it('adds the events before a page that the API never returns', async () => {
    for (let at = 0; at < 300; at += 1) await api.happen('push', { at }, at % 10 === 0 ? 502 : 200);
    api.trouble = ({ url }) => (/cursor=v1_\d+/.test(url) ? new Response('', { status: 422 }) : undefined);
    bed.start({ source: source(), fetch: api.fetch });
    const result = await bed.result();
    expect(result).toMatchObject({ found: 10, added: 10, mark: result.since });
    expect(result.error).toMatch(/422/);
  });

  it('names the reason for which an API cannot be reached, and not the path', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const asking: Source = async function* (_, tools) {
      await tools.fetch('https://api.example/bot_secret/events');
      yield* [];
    };
    bed.start({ source: asking, fetch });
    const { error, requests } = await bed.result();
    expect(error).toMatch(/^https:\/\/api\.example did not answer \(ECONNREFUSED\)/);
    expect(requests).toBe(3);
  });

  it('does not repeat a POST', async () => {
    let requests = 0;
    const asking: Source = async function* (_, tools) {
      await tools.fetch('https://api.example/', { method: 'post' });
      yield* [];
    };
    const fetch = () => {
      requests += 1;
      return Promise.resolve(new Response('', { status: 500 }));
    };
    bed.start({ source: asking, fetch });
    await bed.result();
    expect(requests).toBe(1);
  });

  it('adds the events behind one that is invalid, and leaves the mark', async () => {
    bed.start({ source: listOf(found('a'), found('b', { at: new Date('') }), 'c', found('d')) });
    const result = await bed.result();
    expect(result).toMatchObject({ found: 2, added: 2, mark: result.since });
    expect(result.error).toMatch(/ERR_WBP_RECONCILE_SOURCE/);
  });

  it('leaves an event to the next run, if keyGenerator throws', async () => {
    let isDown = true;
    setUp({
      keyGenerator: () => {
        if (isDown) throw new Error('The database is down.');
        return 'tenant';
      },
    });
    const event = found('a');
    const young: Source = async function* (since) {
      if (event.at >= since) yield await Promise.resolve(event);
    };
    bed.start({ source: young });
    expect((await bed.result()).error).toBe('The database is down.');
    await bed.pass(3_600_000);
    isDown = false;
    await bed.until(() => bed.handled.length === 1, 600_000);
  });
});

describe('reconcile(), with a source that misbehaves', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['a promise of a list', () => Promise.resolve([]), /must return an async iterable.*but returned/],
    ['a promise that rejects', () => Promise.reject(new Error('boom')), /must return an async iterable/],
    ['a list', () => [], /must return an async iterable/],
    ['nothing', () => undefined, /must return an async iterable/],
  ])('says what is wrong with %s', async (_, given, message) => {
    bed.start({ source: given as never });
    expect((await bed.result()).error).toMatch(message);
  });

  it('ends a list of old events that does not end, and lets other work go on', async () => {
    const old = found('a', { at: new Date(0) });
    // Each is one microtask.
    const iterator = { next: () => Promise.resolve({ done: false as const, value: old }) };
    const reconciler = bed.start({ source: () => ({ [Symbol.asyncIterator]: () => iterator }) });
    let result: ReconcileResult | undefined;
    void reconciler.run().then((given) => (result = given));
    let turns = 0;
    for (; bed.results.length === 0; turns += 1) await turn();
    expect(bed.results[0]?.error).toMatch(/at most 1,000,000 events/);
    expect(turns).toBeGreaterThan(900);
    await reconciler.close();
    await bed.until(() => result !== undefined);
  }, 60_000);

  it.each<[string, (isReached: () => void) => object]>([
    [
      'load()',
      (isReached) => ({ source: listOf(found('a', { body: undefined, load: reaching(isReached) })) }),
    ],
    ['since()', (isReached) => ({ source: listOf(), since: reaching(isReached) })],
  ])('closes during a %s that never settles', async (_, options) => {
    let isReached = false;
    const reconciler = bed.start(options(() => (isReached = true)) as never);
    await bed.until(() => isReached);
    let isClosed = false;
    void reconciler.close().then(() => (isClosed = true));
    await bed.pass(1000);
    expect(isClosed).toBe(true);
  });

  const reaching = (isReached: () => void) => () => {
    isReached();
    return never();
  };
});

describe('reconcile(), with an inbox that is closed', () => {
  it('ends the run', async () => {
    await bed.close();
    const reconciler = bed.start({ source: listOf(found('a')) });
    expect(await reconciler.run()).toMatchObject({ error: 'The reconciler is closed.' });
    expect(bed.bench.clock.pending).toBe(0);
  });
});

describe('reconcile(), with clocks and times that differ', () => {
  it('ignores a mark in the future, which a wrong clock has set', async () => {
    await api.happen('push', {}, 502);
    const since = new Date(bed.wallMs + 3_600_000);
    bed.start({ source: source(), fetch: api.fetch, since });
    expect(await bed.result()).toMatchObject({ added: 1 });
  });

  it.each([null, new Date(''), '2026-01-01', 5, () => new Date()])(
    'reports a since() that returns %s',
    async (given) => {
      bed.start({ source: listOf(), since: () => given as never });
      expect((await bed.result()).error).toMatch(/since\(\) must return a valid Date, or undefined/);
    },
  );

  it('leaves out ids that are forgotten during a long run', async () => {
    setUp({ retentionMs: 3_600_000 });
    const event = found('young', { at: new Date(bed.wallMs - 3_000_000) });
    const slow: Source = async function* () {
      yield event;
      await new Promise<void>((resolve) => bed.bench.clock.setTimeout(resolve, 3_600_000));
      yield event;
    };
    bed.start({ source: slow });
    expect(await bed.result()).toMatchObject({ found: 1, added: 1 });
  });

  it('leaves out ids that are forgotten by the clock of the API, if the own one is behind', async () => {
    setUp({ retentionMs: 7_200_000 });
    api.aheadMs = 3_600_000;
    const event = found('old', { at: new Date(bed.wallMs - 4_000_000) });
    const asking: Source = async function* (_, tools) {
      await tools.fetch(`https://api.github.com${HOOK}/deliveries`);
      yield event;
    };
    bed.start({ source: asking, fetch: api.fetch });
    expect(await bed.result()).toMatchObject({ found: 0, added: 0 });
  });

  it('rejects an everyMs at which events between two runs would be left out', () => {
    setUp({ retentionMs: 60_000 });
    expect(() => bed.start({ source: listOf() })).toThrow(/everyMs must be at most half of .*60000/);
    bed.start({ source: listOf(), everyMs: 30_000 });
  });
});

describe('reconcile(), with redeliveries', () => {
  it('asks for none in a dry run, whatever keyGenerator needs', async () => {
    setUp({ keyGenerator: ({ json }) => String((json() as { repo: number }).repo) });
    await api.happen('push', { repo: 1 }, 502);
    bed.start({ source: source({ redeliver: true }), fetch: api.fetch, dryRun: true });
    expect(await bed.result()).toMatchObject({ missed: 1, requested: 0, requests: 1 });
    expect(posts()).toEqual([]);
  });

  it('asks for none while the inbox is full', async () => {
    const ends: (() => void)[] = [];
    const process = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    setUp({ capacity: 10, concurrency: 1, process });
    await bed.bench.inbox.opened;
    for (let at = 0; at < 8; at += 1) await bed.bench.inbox.add({ body: '' });
    for (let at = 0; at < 20; at += 1) await api.happen('push', { at }, 502);
    bed.start({ source: source({ redeliver: true }), fetch: api.fetch });
    await bed.pass(60_000);
    expect(posts()).toEqual([]);
    expect(bed.events.filter(({ type }) => type === 'waiting')).toHaveLength(1);
    ends.shift()?.();
    await bed.until(() => posts().length === 20);
  });
});

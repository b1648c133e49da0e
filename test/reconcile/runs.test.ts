import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { type FoundEvent, github, type Source } from '@webhook-backpressure/reconcile';
import { manualClock } from '@webhook-backpressure/core/testing';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';
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

/** A source of these events. */
const listOf = (...events: readonly unknown[]): Source =>
  async function* () {
    for (const event of events) yield await Promise.resolve(event as FoundEvent);
  };

const found = (id: string, more: Partial<FoundEvent> = {}): FoundEvent => ({
  ...{ id, at: new Date(bed.wallMs), sender: 'erp', body: `{"id":"${id}"}` },
  ...more,
});

describe('reconcile()', () => {
  it.each([
    ['the earliest time', 0, 240_000],
    ['the latest time', 0.999_999, 360_000],
  ])('runs when the inbox is open, and then every five minutes ± 20 %%: %s', async (_, random, everyMs) => {
    bed.start({ source: listOf(), random: () => random });
    await bed.result();
    const beganMs = bed.wallMs;
    await bed.result();
    expect(bed.wallMs - beganMs).toBeCloseTo(everyMs, -1);
  });

  it('requests nothing in the build of an app', async () => {
    vi.stubEnv('NEXT_PHASE', 'phase-production-build');
    setUp();
    bed.start({ source: source(), fetch: api.fetch });
    await bed.bench.inbox.opened;
    await turn();
    expect(api.calls).toEqual([]);
    vi.unstubAllEnvs();
  });

  it('makes one run at a time, and one after it for all calls during it', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const slow: Source = async function* (_, { signal }) {
      runs += 1;
      most = Math.max(most, (running += 1));
      await new Promise<void>((resolve) => bed.bench.clock.setTimeout(resolve, 5000));
      signal.throwIfAborted();
      running -= 1;
      yield found(`e${String(runs)}`);
    };
    const reconciler = bed.start({ source: slow });
    const first = reconciler.run();
    await bed.until(() => running === 1);
    const others = [reconciler.run(), reconciler.run()];
    expect(others[0]).toBe(others[1]);
    await bed.result(others[0]);
    expect(await first).toMatchObject({ added: 1 });
    expect([runs, most, running]).toEqual([2, 1, 0]);
  });

  it('runs a minute after a delivery was refused, once for many', async () => {
    setUp({ capacity: 10, concurrency: 1, process: () => new Promise(() => undefined) });
    bed.start({ source: source(), fetch: api.fetch, everyMs: 600_000 });
    await bed.result();
    for (let at = 0; at < 12; at += 1)
      await bed.receive(api.requestOf({ guid: `g${String(at)}`, event: 'push', payload: {} }));
    expect(bed.bench.events.some(({ type }) => type === 'refused')).toBe(true);
    const beganMs = bed.wallMs;
    await bed.result();
    expect(bed.wallMs - beganMs).toBeLessThan(61_000);
    const nextMs = bed.wallMs;
    await bed.result();
    expect(bed.wallMs - nextMs).toBeGreaterThan(400_000);
  });

  it('runs once more after a delivery was refused during a run', async () => {
    setUp({ capacity: 10, concurrency: 1, process: () => new Promise(() => undefined) });
    let isWaiting = false;
    const slow: Source = async function* () {
      isWaiting = true;
      await new Promise<void>((resolve) => bed.bench.clock.setTimeout(resolve, 5000));
      yield* [];
    };
    bed.start({ source: slow, everyMs: 3_600_000 });
    await bed.until(() => isWaiting);
    for (let at = 0; at < 12; at += 1)
      await bed.receive(api.requestOf({ guid: `g${String(at)}`, event: 'push', payload: {} }));
    await bed.result();
    const beganMs = bed.wallMs;
    await bed.result();
    expect(bed.wallMs - beganMs).toBeLessThan(70_000);
  });

  it('waits while the inbox is at its high-water mark, and loses nothing', async () => {
    const ends: (() => void)[] = [];
    setUp({
      capacity: 10,
      concurrency: 2,
      process: (delivery) =>
        new Promise<void>((resolve) =>
          ends.push(() => {
            bed.handled.push(delivery);
            resolve();
          }),
        ),
    });
    const ids = Array.from({ length: 30 }, (_, at) => `e${String(at)}`);
    const reconciler = bed.start({ source: listOf(...ids.map((id) => found(id))) });
    const run = reconciler.run();
    const isWaiting = (): boolean => bed.events.at(-1)?.type === 'waiting';
    let most = 0;
    while (bed.handled.length < 30) {
      const waits = bed.events.length;
      if (bed.handled.length < 20) await bed.until(() => bed.events.length > waits && isWaiting());
      most = Math.max(most, bed.bench.inbox.snapshot().depth);
      await bed.until(() => ends.length > 0);
      ends.shift()?.();
    }
    expect(most).toBe(8);
    expect(await bed.result(run)).toMatchObject({ found: 30, added: 30, error: undefined });
    expect(bed.ids).toEqual([...ids].sort());
    expect(bed.events.filter(({ type }) => type === 'waiting').length).toBeGreaterThan(0);
    // Room for what arrives was left.
    expect(bed.bench.events.filter(({ type }) => type === 'refused')).toEqual([]);
  });

  it('waits while the store fails', async () => {
    const store: InboxStore = memoryStore();
    const put = store.put.bind(store);
    let failures = 5;
    const failing = Object.assign(Object.create(store) as InboxStore, {
      put: (...given: Parameters<typeof put>) => {
        failures -= 1;
        if (failures >= 0) throw new Error('The disk is full.');
        return put(...given);
      },
    });
    setUp({ store: failing });
    const reconciler = bed.start({ source: listOf(found('a')) });
    expect(await bed.result(reconciler.run())).toMatchObject({ added: 1, error: undefined });
    expect(bed.events[0]).toMatchObject({ type: 'waiting' });
    await bed.until(() => bed.handled.length === 1);
  });

  it('adds each event once, if two processes reconcile concurrently', async () => {
    const memory = new MemoryState();
    setUp({ store: new MemoryStore(memory) });
    const other = new ReconcileBed({ store: new MemoryStore(memory) });
    for (let at = 0; at < 40; at += 1) await api.happen('push', { at }, 502);
    const runs = [bed, other].map((one) => one.start({ source: source(), fetch: api.fetch }).run());
    let results: { added: number }[] = [];
    void Promise.all(runs).then((given) => (results = given));
    await bed.until(() => {
      other.bench.clock.advance(100);
      return results.length === 2;
    });
    expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(40);
    await bed.until(() => {
      other.bench.clock.advance(100);
      return bed.handled.length + other.handled.length >= 40;
    });
    expect(new Set([...bed.ids, ...other.ids]).size).toBe(40);
    expect(bed.handled.length + other.handled.length).toBe(40);
    await other.close();
  });

  it('reports a body above maxBodyBytes once, and does not fetch it again', async () => {
    setUp({ maxBodyBytes: 100 });
    const { guid } = await api.happen('push', { text: 'x'.repeat(100) }, 502);
    await api.happen('push', {}, 502);
    bed.start({ source: source(), fetch: api.fetch });
    expect(await bed.result()).toMatchObject({ found: 2, missed: 2, added: 1, skipped: 1, error: undefined });
    expect(await bed.result()).toMatchObject({ found: 2, missed: 1, added: 0, skipped: 1, requests: 1 });
    const skipped = bed.events.filter(({ type }) => type === 'skipped');
    expect(skipped).toMatchObject([{ id: guid, error: expect.stringContaining('maxBodyBytes') as string }]);
  });

  it('takes events of any function, in any order and more than once', async () => {
    const at = (ms: number): Date => new Date(bed.wallMs - ms);
    const events = [
      found('b', { at: at(10) }),
      found('a', { at: at(9000), headers: { 'X-Order': '1' }, context: { shop: 'eu' } }),
      found('b', { at: at(10) }),
      found('c', { body: undefined, load: () => Promise.resolve({ body: new Uint8Array([123, 125]) }) }),
      found('d', { key: 'tenant' }),
    ];
    const reconciler = bed.start({ source: listOf(...events) });
    expect(await bed.result(reconciler.run())).toMatchObject({ found: 5, missed: 4, added: 4 });
    await bed.until(() => bed.handled.length === 4);
    expect(bed.ids).toEqual(['a', 'b', 'c', 'd']);
    expect(bed.handled.find(({ id }) => id === 'a')).toMatchObject({
      ...{ key: 'erp', sender: 'erp', headers: { 'x-order': '1' }, context: { shop: 'eu' } },
    });
    expect(bed.handled.find(({ id }) => id === 'd')?.key).toBe('tenant');
  });

  it.each([
    ['a string', 'evt_1'],
    ['no time', { id: 'a', body: '' }],
    ['no id', { at: new Date(), body: '' }],
    ['an invalid time', { id: 'a', at: new Date(NaN), body: '' }],
    ['neither body nor load()', { id: 'a', at: new Date() }],
  ])('ends a run whose source yields %s', async (_, event) => {
    bed.start({ source: listOf(event) });
    expect((await bed.result()).error).toMatch(/ERR_WBP_RECONCILE_SOURCE/);
  });

  it.each([
    ['nothing', undefined],
    ['an object without a body', { headers: {} }],
  ])('loses no event whose load() resolves to %s', async (_, content) => {
    let given: unknown = content;
    const load = (): Promise<never> => Promise.resolve(given as never);
    bed.start({ source: listOf({ id: 'a', at: new Date(bed.wallMs), load }), everyMs: 600_000 });
    expect((await bed.result()).error).toMatch(/load\(\) must return/);
    given = { body: '{}' };
    expect(await bed.result()).toMatchObject({ added: 1 });
  });

  it('leaves out what happened before the time whose ids the inbox remembers', async () => {
    setUp({ retentionMs: 3_600_000 });
    const old = found('old', { at: new Date(bed.wallMs - 3_600_001) });
    bed.start({ source: listOf(old, found('young')), since: new Date(0) });
    expect(await bed.result()).toMatchObject({ found: 1, missed: 1, added: 1 });
    await bed.until(() => bed.handled.length === 1);
    expect(bed.ids).toEqual(['young']);
  });

  it('skips an event that the inbox cannot take, and adds the next', async () => {
    bed.start({ source: listOf(found(''), found('x'.repeat(300)), found('a')) });
    expect(await bed.result()).toMatchObject({ found: 3, missed: 3, added: 1, skipped: 2, error: undefined });
  });

  it('begins at the time that since() returns, and reports why it fails', async () => {
    const sinces: Date[] = [];
    const noting: Source = async function* (since) {
      sinces.push(since);
      yield* await Promise.resolve<FoundEvent[]>([]);
    };
    const stored = new Date(bed.wallMs - 1_000_000);
    let isDown = true;
    const since = (): Promise<Date> =>
      isDown ? Promise.reject(new Error('The database is down.')) : Promise.resolve(stored);
    bed.start({ source: noting, since });
    expect((await bed.result()).error).toBe('The database is down.');
    isDown = false;
    const { mark } = await bed.result();
    await bed.result();
    expect(sinces).toEqual([stored, mark]);
  });

  it('closes during an answer that never comes, and leaves no timer', async () => {
    const clock = manualClock();
    const reconciler = bed.start({ source: source(), clock, fetch: () => new Promise(() => undefined) });
    const run = reconciler.run();
    await bed.pass(1000);
    await reconciler.close();
    expect(await run).toMatchObject({ error: 'The reconciler is closed.' });
    expect(await reconciler.run()).toMatchObject({ error: 'The reconciler is closed.' });
    await bed.pass(1000);
    expect(clock.pending).toBe(0);
  });

  it('closes during a source that ignores the signal, and with the inbox', async () => {
    const stuck: Source = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
    });
    const reconciler = bed.start({ source: stuck });
    const run = reconciler.run();
    await bed.pass(1000);
    let isClosed = false;
    void bed.bench.inbox.close().then(() => (isClosed = true));
    await bed.until(() => isClosed);
    expect(await run).toMatchObject({ error: 'The reconciler is closed.' });
  });
});

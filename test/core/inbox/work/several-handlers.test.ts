import {
  createInbox,
  createWorker,
  memoryStore,
  RetryAfter,
  type InboxDelivery,
  type InboxOptions,
} from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

const PUSH = { 'x-github-event': 'push' };
const DAY = 86_400_000;

/** Notes which handler got which delivery, and fails those that a test names. */
function noting(): {
  readonly calls: string[];
  readonly failing: Set<string>;
  readonly by: (name: string) => (delivery: InboxDelivery, context: { attempt: number }) => void;
} {
  const calls: string[] = [];
  const failing = new Set<string>();
  return {
    calls,
    failing,
    by:
      (name) =>
      (delivery, { attempt }) => {
        calls.push(`${name} ${delivery.id} ${String(attempt)}`);
        if (failing.has(name)) throw new Error(`${name} is down`);
      },
  };
}

const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

describe('a delivery that matches one handler', () => {
  it('is passed to it, and others to process', async () => {
    const { calls, by } = noting();
    const bench = new InboxBench({
      process: by('rest'),
      on: { 'github:push': by('push'), 'stripe:*': by('stripe'), '*:ping': by('ping') },
    });
    await bench.deliver('a', '{}', PUSH);
    await bench.deliver('b', '{"type":"push"}', { 'stripe-signature': 't=1' });
    await bench.deliver('c', '{"event":"ping"}');
    await bench.deliver('d', 'ping');
    await bench.deliver('e', '{"type":"push"}');
    expect(calls).toEqual(['push a 1', 'stripe b 1', 'ping c 1', 'rest d 1', 'rest e 1']);
    expect(bench.events.filter(({ type }) => type === 'completed')).toMatchObject([
      { id: 'a', handler: 'github:push' },
      { id: 'b', handler: 'stripe:*' },
      { id: 'c', handler: '*:ping' },
      { id: 'd' },
      { id: 'e' },
    ]);
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 5, started: 5, completed: 5, split: 0 });
  });

  it('is completed visibly when it matches none and there is no process', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const bench = new InboxBench({ process: undefined, on: {}, keepCompletedMs: DAY });
    bench.inbox.on('github:push', () => undefined);
    await bench.deliver('a', '{}', { 'x-github-event': 'issues' });
    expect(bench.events.find(({ type }) => type === 'completed')).toMatchObject({ id: 'a', as: 'unmatched' });
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      retained: 1,
      totals: { completed: 1, unmatched: 1 },
    });
    const quiet = createInbox({ store: memoryStore(), verify: false, on: { stripe: () => undefined } });
    await quiet.receive({ headers: {}, hint: '', read: () => Promise.resolve('whole') });
    await vi.waitFor(() => {
      expect(warn.mock.calls.map((call: unknown[]) => (call[1] as { code: string }).code)).toEqual([
        'WBP_UNMATCHED',
      ]);
    });
    await quiet.close();
    warn.mockRestore();
  });
});

describe('a delivery that matches several handlers', () => {
  const options = (notes: ReturnType<typeof noting>): Partial<InboxOptions> => ({
    process: notes.by('rest'),
    on: { github: notes.by('github'), 'github:push': notes.by('push') },
    retry: { attempts: 3, firstDelayMs: 1000, maxDelayMs: 1000 },
  });

  it('is retried and dead-lettered for the failing one alone', async () => {
    const notes = noting();
    notes.failing.add('push');
    const dead: unknown[] = [];
    const bench = new InboxBench({
      ...options(notes),
      onDead: ({ id, handler }, error) => dead.push([id, handler, error]),
    });
    await bench.deliver('a', '{}', PUSH);
    await bench.advance(1000);
    await bench.advance(1000);
    expect(notes.calls).toEqual([
      'github a/github 1',
      'push a/github:push 1',
      'push a/github:push 2',
      'push a/github:push 3',
    ]);
    expect(dead).toEqual([['a/github:push', 'github:push', 'push is down']]);
    expect(await bench.inbox.deadLetters.list()).toMatchObject([
      { id: 'a/github:push', handler: 'github:push', key: 'github', sender: 'github', error: 'push is down' },
    ]);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      totals: { stored: 1, completed: 2, split: 1, dead: 1 },
    });
    notes.failing.clear();
    await bench.inbox.deadLetters.redrive('a/github:push');
    await turns();
    expect(notes.calls.at(-1)).toBe('push a/github:push 1');
    expect((await bench.deliver('a', '{}', PUSH)).body).toContain('duplicate');
    expect(await bench.inbox.completed.forget('a', { key: 'github' })).toBe(true);
    await bench.deliver('a', '{}', PUSH);
    expect(notes.calls.slice(-2)).toEqual(['github a/github 1', 'push a/github:push 1']);
  });

  it('is passed to each with its contents, also encrypted', async () => {
    const key = new Uint8Array(32).fill(7);
    const seen: unknown[] = [];
    const note = ({ text, headers, url, context, receivedAt }: InboxDelivery): void => {
      seen.push([text(), headers['x-github-event'], url, context, receivedAt.getTime()]);
    };
    const bench = new InboxBench({
      on: { github: note },
      encrypt: { keys: { a: key } },
      context: () => ({ tenant: 1 }),
    });
    bench.inbox.on('*:push', note);
    await bench.deliver('a', '{"n":1}', PUSH);
    await vi.waitFor(() => {
      expect(seen).toHaveLength(2);
    });
    const one = ['{"n":1}', 'push', '/webhooks?shop=1', { tenant: 1 }, bench.wallOffsetMs];
    expect(seen).toEqual([one, one]);
    expect(bench.inbox.snapshot().totals).toMatchObject({ failed: 0, split: 1 });
  });

  it('is split once, however often the process dies before it is completed', async () => {
    const memory = new MemoryState();
    const notes = noting();
    const first = new MemoryStore(memory);
    const settle = first.settle.bind(first);
    let isDead = false;
    Object.assign(first, {
      settle: (...args: Parameters<typeof settle>) =>
        isDead ? new Promise(() => undefined) : settle(...args),
      put: (...args: Parameters<MemoryStore['put']>) => {
        // Dies after the deliveries of the handlers are stored.
        if (args[0].length > 1) isDead = true;
        return new MemoryStore(memory).put(...args);
      },
    });
    const one = new InboxBench({ store: first, ...options(notes) });
    await one.deliver('a', '{}', PUSH);
    expect(isDead).toBe(true);
    expect(memory.stats()).toMatchObject({ depth: 3, inFlight: 1 });
    // Its claims run out.
    const second = new InboxBench({ store: new MemoryStore(memory), ...options(notes) });
    for (let at = 0; at < 3; at += 1) await second.advance(40_000);
    const repeated = notes.calls.filter((call) => call.startsWith('push '));
    expect(new Set(repeated.map((call) => call.split(' ')[1]))).toEqual(new Set(['a/github:push']));
    expect(memory.stats()).toMatchObject({ depth: 0, remembered: 3 });
    expect(second.inbox.snapshot().totals).toMatchObject({ split: 1 });
  });

  it('needs no room, and is split when the store works again', async () => {
    const notes = noting();
    const store = memoryStore();
    const put = store.put.bind(store);
    let isFailing = true;
    Object.assign(store, {
      put: (...args: Parameters<typeof put>) => {
        if (isFailing && args[0].some(({ delivery }) => delivery.handler !== undefined))
          throw new Error('no disk');
        return put(...args);
      },
    });
    const bench = new InboxBench({ ...options(notes), store, capacity: 1 });
    await bench.deliver('a', '{}', PUSH);
    for (let at = 0; at < 5; at += 1) await bench.advance(1000);
    expect(notes.calls).toEqual([]);
    isFailing = false;
    for (let at = 0; at < 20; at += 1) await bench.advance(1000);
    expect(notes.calls).toEqual(['github a/github 1', 'push a/github:push 1']);
    expect(bench.inbox.snapshot().totals).toMatchObject({ failed: 0, split: 1 });
  });

  it('keeps the order of an ordered key for each handler', async () => {
    const notes = noting();
    const bench = new InboxBench({ ...options(notes), ordered: true, concurrency: 3 });
    const send = (id: string, event: string) => bench.send(id, '{}', { 'x-github-event': event });
    await Promise.all([send('a', 'push'), send('b', 'issues'), send('c', 'push')]);
    await turns(60);
    expect(notes.calls.filter((call) => call.startsWith('github '))).toEqual([
      'github a/github 1',
      'github b/github 1',
      'github c/github 1',
    ]);
    expect(notes.calls.filter((call) => call.startsWith('push '))).toEqual([
      'push a/github:push 1',
      'push c/github:push 1',
    ]);
  });

  it('waits for a process that has its handler, and becomes a dead letter without one', async () => {
    const memory = new MemoryState();
    const notes = noting();
    notes.failing.add('push');
    const old = new InboxBench({ store: new MemoryStore(memory), ...options(notes) });
    await old.deliver('a', '{}', PUSH);
    await old.inbox.close();
    const worker = new InboxBench({ store: new MemoryStore(memory), process: notes.by('rest') });
    await worker.advance(1000);
    for (let at = 0; at < 60; at += 1) await worker.advance(3_600_000);
    expect(worker.inbox.snapshot()).toMatchObject({ depth: 1, deadLetters: 0 });
    expect(worker.events.find(({ type }) => type === 'failed')).toMatchObject({
      error: 'There is no handler with the name "github:push".',
      handler: 'github:push',
      isCounted: false,
    });
    for (let at = 0; at < 300; at += 1) await worker.advance(3_600_000);
    expect(await worker.inbox.deadLetters.list()).toMatchObject([
      { id: 'a/github:push', error: 'There is no handler with the name "github:push".' },
    ]);
    expect(notes.calls.filter((call) => call.startsWith('rest'))).toEqual([]);
  });
});

describe('handlers of an inbox', () => {
  it('may be added, with a name for each', async () => {
    const notes = noting();
    const bench = new InboxBench({ process: undefined, on: {} });
    bench.inbox.on('github:push', notes.by('one'));
    bench.inbox.on('github:push', notes.by('two'), { name: 'two' });
    bench.inbox.on('*', () => {
      throw new RetryAfter(60);
    });
    await bench.deliver('a', '{}', PUSH);
    expect(notes.calls).toEqual(['one a/github:push 1', 'two a/two 1']);
    expect(bench.events.find(({ type }) => type === 'failed')).toMatchObject({
      id: 'a/*',
      handler: '*',
      retryInMs: 60_000,
    });
    await bench.deliver('b', 'no JSON');
    expect(bench.events.findLast(({ type }) => type === 'failed')).toMatchObject({ id: 'b', handler: '*' });
  });

  it('are checked', () => {
    const bench = new InboxBench();
    const handler = (): void => undefined;
    for (const type of ['', ':', 'a:', ':b', 7, null, 'x'.repeat(129)])
      expect(() => {
        bench.inbox.on(type as string, handler);
      }).toThrow(code('ERR_WBP_ON'));
    for (const given of [undefined, null, 'work', {}])
      expect(() => {
        bench.inbox.on('stripe', given as never);
      }).toThrow(code('ERR_WBP_ON'));
    for (const options of [null, 'name', { name: '' }, { name: 7 }, { nam: 'a' }, { name: 'x'.repeat(129) }])
      expect(() => {
        bench.inbox.on('stripe', handler, options as never);
      }).toThrow(code('ERR_WBP_ON'));
    bench.inbox.on('stripe', handler);
    expect(() => {
      bench.inbox.on('stripe', handler);
    }).toThrow('{ name }');
    for (let at = 1; at < 50; at += 1) bench.inbox.on(`a${String(at)}`, handler);
    expect(() => {
      bench.inbox.on('a50', handler);
    }).toThrow('at most 50');
    for (const on of [null, [], 'stripe', { stripe: 1 }, { '': handler }])
      expect(() => new InboxBench({ on: on as never })).toThrow(code('ERR_WBP_ON'));
  });

  it('belong to workers', async () => {
    const store = new MemoryStore(new MemoryState());
    const receiver = createInbox({ store, verify: false });
    expect(() => {
      receiver.on('stripe', () => undefined);
    }).toThrow('on: {}');
    const worker = createWorker({ store: new MemoryStore(new MemoryState()), on: {} });
    worker.on('stripe', () => undefined);
    expect(worker.snapshot().role).toBe('worker');
    expect(createInbox({ store: memoryStore(), verify: false, on: {} }).snapshot().role).toBe('both');
    expect(() => createInbox({ store: memoryStore(), verify: false })).toThrow(code('ERR_WBP_PROCESS'));
    await Promise.all([worker.close(), receiver.close()]);
  });
});

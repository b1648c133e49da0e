import { createIntake, memoryStore, type IntakeSnapshot } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import {
  webhookBackpressure,
  webhookInbox,
  type WebhookBackpressureOptions,
} from '@webhook-backpressure/hono';
import { Hono as HonoLatest, type Context, type Handler } from 'hono';
import { Hono as Hono40 } from 'hono40';
import { afterEach, describe, expect, it, vi } from 'vitest';

// Without a server: what tells of a sender that leaves, and of a response that ends, are a signal and a body.
describe.each([
  { name: 'Hono 4.0', Hono: Hono40 },
  { name: 'Hono 4', Hono: HonoLatest },
])('$name where only web standards are known', ({ Hono }) => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  function serve(handler: Handler, options: WebhookBackpressureOptions = {}) {
    const clock = manualClock();
    const own = options.intake === undefined ? { concurrency: 1, clock } : {};
    const middleware = webhookBackpressure({ ...own, ...options });
    const app = new Hono();
    app.onError((error, c) => c.text(error.message, 500));
    app.use('*', middleware);
    app.post('/', handler);
    const post = (init: RequestInit = {}, ...rest: unknown[]): Promise<Response> =>
      Promise.resolve(
        app.fetch(new Request('http://x/', { method: 'POST', ...init }), ...(rest as [object, never])),
      );
    const snapshot = (): IntakeSnapshot => middleware.intake.snapshot();
    return { post, snapshot, clock, intake: middleware.intake };
  }

  /** A stream that a test writes to, and its answer. */
  function streamed(): { handler: Handler; out: WritableStreamDefaultWriter<Uint8Array> } {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    return { handler: () => new Response(readable), out: writable.getWriter() };
  }

  const text = new TextEncoder();
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('releases the permit when an answer without a body is made', async () => {
    const { post, snapshot } = serve((c) => c.body(null, 204));
    await post();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit of an answer in memory, whether anybody reads it or not', async () => {
    const { post, snapshot } = serve((c) => c.text('done'));
    const response = await post();
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
    expect(await response.text()).toBe('done');
  });

  it('holds the permit until a streamed body has ended', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const reading = (await post()).text();
    for (const word of ['a', 'b', 'c', 'd']) await out.write(text.encode(word));
    expect(snapshot().active).toBe(1);
    await out.close();
    expect(await reading).toBe('abcd');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1, failed: 0 } });
  });

  it('releases the permit as a failure when a streamed body is cancelled', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const response = await post();
    out.closed.catch(() => undefined);
    await response.body?.cancel();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('releases the permit as a failure when a streamed body breaks', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const response = await post();
    const reading = response.text();
    await out.abort(new Error('source failed'));
    await expect(reading).rejects.toThrow('source failed');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it.each([
    ['an error', new Error('handler failed')],
    ['what is no error', 'handler failed'],
  ])('releases the permit as a failure when a handler throws %s', async (_what, thrown) => {
    const { post, snapshot } = serve((c) => {
      AbortSignal.abort(thrown).throwIfAborted();
      return c.text('done');
    });
    await post().catch(() => undefined);
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('takes a sender that leaves out of the queue, and holds its permit while its handler runs', async () => {
    let end = (_response: Response): void => undefined;
    const handled = vi.fn(() => new Promise<Response>((resolve) => (end = resolve)));
    const { post, snapshot } = serve(handled);
    const [first, second] = [new AbortController(), new AbortController()];
    void post({ signal: first.signal });
    const waiting = post({ signal: second.signal });
    await settled();
    expect(snapshot()).toMatchObject({ active: 1, depth: 1 });
    second.abort();
    expect(snapshot()).toMatchObject({ active: 1, depth: 0, totals: { withdrawn: { abandoned: 1 } } });
    await waiting;
    first.abort();
    expect(snapshot()).toMatchObject({ active: 1, totals: { failed: 0 } });
    end(new Response('late'));
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { failed: 1 } });
    expect(handled).toHaveBeenCalledOnce();
  });

  it('releases the permit when a handler returns after another middleware has answered', async () => {
    let end = (_response: Response): void => undefined;
    const clock = manualClock();
    const middleware = webhookBackpressure({ concurrency: 1, clock });
    const app = new Hono();
    app.use('*', async (c, next) => {
      // What Hono's own `timeout` does.
      await Promise.race([next(), settled()]);
      c.res = c.text('too late', 504);
    });
    app.use('*', middleware);
    app.post('/', () => new Promise<Response>((resolve) => (end = resolve)));
    for (let count = 1; count <= 3; count += 1) {
      const response = await app.fetch(new Request('http://x/', { method: 'POST' }));
      expect(response.status).toBe(504);
      const reading = response.text();
      expect(middleware.intake.snapshot().active).toBe(1);
      end(new Response('late'));
      expect(await reading).toBe('too late');
      await settled();
      expect(middleware.intake.snapshot()).toMatchObject({ active: 0, totals: { started: count } });
    }
  });

  it.each([
    ['text', (c: Context): Response => c.text('done'), 4],
    ['JSON', (c: Context): Response => c.json({ a: 1 }), 7],
    ['a response without a body', (): Response => new Response(null, { status: 204 }), 0],
  ])(
    'keeps %s in memory in one piece, so that the runtime tells its length',
    async (_what, handler, length) => {
      const { post } = serve(handler);
      const response = await post();
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body ?? []) chunks.push(chunk);
      expect(chunks.map((chunk) => chunk.byteLength)).toEqual(length === 0 ? [] : [length]);
    },
  );

  it('releases the permit of a body that nobody will read: that of an answer to HEAD', async () => {
    const { handler } = streamed();
    const middleware = webhookBackpressure({ skip: () => false });
    const app = new Hono();
    app.use('*', middleware).get('/', handler);
    await app.fetch(new Request('http://x/', { method: 'HEAD' }));
    expect(middleware.intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit of a streamed body that another middleware has dropped', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { handler, out } = streamed();
    const middleware = webhookBackpressure();
    const app = new Hono();
    app.use('*', async (c, next) => {
      await next();
      c.res = undefined;
      c.res = c.text('another');
    });
    app.use('*', middleware).post('/', handler);
    const response = await app.fetch(new Request('http://x/', { method: 'POST' }));
    expect(await response.text()).toBe('another');
    for (const word of ['a', 'b', 'c', 'd']) void out.write(text.encode(word));
    await settled();
    expect(middleware.intake.snapshot().active).toBe(1);
    vi.advanceTimersByTime(5100);
    expect(middleware.intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('does not admit a sender that has gone before', async () => {
    const { post, snapshot } = serve((c) => c.text('done'));
    const gone = new AbortController();
    gone.abort();
    await post({ signal: gone.signal });
    expect(snapshot().totals.admitted).toBe(0);
  });

  it('passes on a fetched response, whose headers cannot be changed, with the rate-limit headers', async () => {
    const { post, snapshot } = serve(() => fetch('data:text/html,fetched'), { standardHeaders: 'draft-8' });
    const response = await post();
    expect(response.headers.get('ratelimit-policy')).toBe('"queue";q=800');
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(await response.text()).toBe('fetched');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('passes an intake once when the app hands its request to another app', async () => {
    const intake = createIntake({ concurrency: 1 });
    const inner = new Hono();
    inner.use('*', webhookBackpressure({ intake })).post('/', (c) => c.text('inner'));
    const { post } = serve((c) => inner.fetch(c.req.raw), { intake });
    expect(await (await post()).text()).toBe('inner');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { admitted: 1, completed: 1 } });
  });

  it('passes an intake once when a middleware in between has replaced the request', async () => {
    const intake = createIntake({ concurrency: 1 });
    const app = new Hono();
    app.use('*', webhookBackpressure({ intake }));
    app.use('*', async (c, next) => {
      c.req.raw = new Request(c.req.raw);
      await next();
    });
    app.use('*', webhookBackpressure({ intake })).post('/', (c) => c.text('done'));
    expect(await (await app.fetch(new Request('http://x/', { method: 'POST' }))).text()).toBe('done');
    expect(intake.snapshot().totals.admitted).toBe(1);
  });

  it.each([
    ['a variable', 'x'],
    ['a queue', { send: () => Promise.resolve() }],
  ])('takes %s that is called incoming for no request of node', async (_what, incoming) => {
    const headers = { 'x-shopify-topic': 'orders/create' };
    const { post, snapshot } = serve((c) => c.text(c.get('backpressure')?.key ?? 'unguarded'));
    const env = { incoming };
    expect(await (await post({ headers }, env)).text()).toBe('shopify');
    expect(await (await post({ headers }, env)).text()).toBe('shopify');
    expect(snapshot().totals.admitted).toBe(2);
  });

  describe('on Workers', () => {
    /** A context of a request there, and what it was asked to wait for. */
    function context(): { stays: Promise<unknown>[]; rest: unknown[] } {
      vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
      const stays: Promise<unknown>[] = [];
      const executionContext = {
        waitUntil: (stay: Promise<unknown>) => void stays.push(stay),
        passThroughOnException: () => undefined,
      };
      return { stays, rest: [{}, executionContext] };
    }
    const isSettled = async (stay: Promise<unknown> | undefined): Promise<boolean> =>
      Promise.race([stay?.then(() => true), settled().then(() => false)]) as Promise<boolean>;

    it('stays until the permit is back', async () => {
      const { stays, rest } = context();
      const { handler, out } = streamed();
      const { post } = serve(handler);
      const reading = (await post({}, ...rest)).text();
      expect(await isSettled(stays[0])).toBe(false);
      await out.close();
      await reading;
      expect(await isSettled(stays[0])).toBe(true);
    });

    it('has something of its own to wait for while it waits, and neither that nor its stay after a refusal', async () => {
      const { stays, rest } = context();
      const { post, clock } = serve(() => new Promise<Response>(() => undefined), { maxWaitMs: 1000 });
      const set = vi.spyOn(globalThis, 'setInterval');
      const clear = vi.spyOn(globalThis, 'clearInterval');
      void post({}, ...rest);
      expect(set).not.toHaveBeenCalled();
      const waiting = post({}, ...rest);
      expect(set).toHaveBeenCalledOnce();
      clock.advance(1100);
      expect((await waiting).status).toBe(503);
      expect(clear).toHaveBeenCalledWith(set.mock.results[0]?.value);
      expect(await isSettled(stays[1])).toBe(true);
      expect(await isSettled(stays[0])).toBe(false);
      set.mockRestore();
      clear.mockRestore();
    });

    it.each([
      ['worked off', false],
      ['closed with something left', true],
    ])('stays after an acknowledgement until the inbox is %s', async (_when, closes) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const { stays, rest } = context();
      let end = (): void => undefined;
      const clock = manualClock();
      const webhooks = webhookInbox({
        store: memoryStore(),
        verify: false,
        clock,
        process: () => new Promise<void>((resolve) => (end = resolve)),
      });
      const app = new Hono();
      app.post('/', webhooks);
      const request = new Request('http://x/', { method: 'POST', body: '{}' });
      const heard = async (expected: string): Promise<void> =>
        new Promise((resolve) => {
          webhooks.inbox.subscribe(({ type }) => {
            if (type === expected) resolve();
          });
        });
      const begun = heard('started');
      expect((await app.fetch(request, ...(rest as [object, never]))).status).toBe(202);
      await begun;
      vi.advanceTimersByTime(5000);
      expect(await isSettled(stays[0])).toBe(false);
      const finished = heard(closes ? 'closed' : 'completed');
      if (closes) void webhooks.inbox.close({ timeoutMs: 1 });
      else end();
      clock.advance(1);
      await finished;
      await settled();
      vi.advanceTimersByTime(5000);
      expect(await isSettled(stays[0])).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('does without a context, if the app was called without one', async () => {
      context();
      const { post, snapshot } = serve((c) => c.text('done'));
      expect(await (await post()).text()).toBe('done');
      expect(snapshot().totals.completed).toBe(1);
    });
  });
});

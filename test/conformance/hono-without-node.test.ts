import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/hono';
import { Hono as HonoLatest, type Context, type Handler } from 'hono';
import { Hono as Hono40 } from 'hono40';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve as serveOn, settled, streamed, type Served } from './web-app.ts';

// Without a server: a signal reports that the sender disconnects, and a stream that the response ends.
describe.each([
  { name: 'Hono 4.0', Hono: Hono40 },
  { name: 'Hono 4', Hono: HonoLatest },
])('$name with web standards only', ({ Hono }) => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  const serve = (handler: Handler, options?: WebhookBackpressureOptions): Served =>
    serveOn(Hono, handler, options);

  const text = new TextEncoder();

  it('releases the permit of a response without a body', async () => {
    const { post, snapshot } = serve((c) => c.body(null, 204));
    await post();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit of a response in memory even if it is not read', async () => {
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

  it('releases the permit as a failure when a streamed body is canceled', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const response = await post();
    out.closed.catch(() => undefined);
    await response.body?.cancel();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('releases the permit as a failure when a streamed body fails', async () => {
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
    ['a string', 'handler failed'],
  ])('releases the permit as a failure when a handler throws %s', async (_what, thrown) => {
    const { post, snapshot } = serve((c) => {
      AbortSignal.abort(thrown).throwIfAborted();
      return c.text('done');
    });
    await post().catch(() => undefined);
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('removes a disconnected sender from the queue, and holds its permit while its handler runs', async () => {
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

  it('releases the permit when a handler returns after another middleware has responded', async () => {
    let end = (_response: Response): void => undefined;
    const clock = manualClock();
    const middleware = webhookBackpressure({ concurrency: 1, clock });
    const app = new Hono();
    app.use('*', async (c, next) => {
      // As Hono's middleware `timeout` does.
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
    'keeps %s in memory in one chunk, so that the runtime sets Content-Length',
    async (_what, handler, length) => {
      const { post } = serve(handler);
      const response = await post();
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body ?? []) chunks.push(chunk as Uint8Array);
      expect(chunks.map((chunk) => chunk.byteLength)).toEqual(length === 0 ? [] : [length]);
    },
  );

  it('releases the permit of a response to HEAD, whose body is never read', async () => {
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

  it('does not admit a request whose sender has disconnected', async () => {
    const { post, snapshot } = serve((c) => c.text('done'));
    const gone = new AbortController();
    gone.abort();
    await post({ signal: gone.signal });
    expect(snapshot().totals.admitted).toBe(0);
  });

  it('adds rate-limit headers to a fetched response, whose headers are immutable', async () => {
    const { post, snapshot } = serve(() => fetch('data:text/html,fetched'), { standardHeaders: 'draft-8' });
    const response = await post();
    expect(response.headers.get('ratelimit-policy')).toBe('"queue";q=800');
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(await response.text()).toBe('fetched');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('admits a request once when the app passes it to another app', async () => {
    const intake = createIntake({ concurrency: 1 });
    const inner = new Hono();
    inner.use('*', webhookBackpressure({ intake })).post('/', (c) => c.text('inner'));
    const { post } = serve((c) => inner.fetch(c.req.raw), { intake });
    expect(await (await post()).text()).toBe('inner');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { admitted: 1, completed: 1 } });
  });

  it('admits a request once when a middleware replaces it', async () => {
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
  ])('does not mistake %s called incoming for a request of node', async (_what, incoming) => {
    const headers = { 'x-shopify-topic': 'orders/create' };
    const { post, snapshot } = serve((c) => c.text(c.get('backpressure')?.key ?? 'unguarded'));
    const env = { incoming };
    expect(await (await post({ headers }, env)).text()).toBe('shopify');
    expect(await (await post({ headers }, env)).text()).toBe('shopify');
    expect(snapshot().totals.admitted).toBe(2);
  });
});

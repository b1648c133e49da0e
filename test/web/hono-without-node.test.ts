import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/hono';
import { Hono as HonoLatest, type Handler } from 'hono';
import { Hono as Hono40 } from 'hono40';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serveHono, settled, streamed, type Served } from './apps.ts';

// What other middlewares and apps do to a delivery, without a server.
describe.each([
  { name: 'Hono 4.0', Hono: Hono40 },
  { name: 'Hono 4', Hono: HonoLatest },
])('$name with web standards only', ({ Hono }) => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const serve = (handler: Handler, options?: WebhookBackpressureOptions): Served =>
    serveHono(Hono, handler, options);

  const text = new TextEncoder();

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

  it('admits a request once when the app passes it to another app', async () => {
    const intake = createIntake({ concurrency: 1 });
    const inner = new Hono();
    inner.use('*', webhookBackpressure({ intake })).post('/', (c) => c.text('inner'));
    const { post } = serve((c) => inner.fetch(c.req.raw), { intake });
    expect(await (await post()).text()).toBe('inner');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { admitted: 1, completed: 1 } });
  });

  it('admits a request once when an app is mounted, which gets another request', async () => {
    const intake = createIntake({ concurrency: 1 });
    const requests: Request[] = [];
    const note: Handler = async (c, next) => {
      requests.push(c.req.raw);
      await next();
    };
    const inner = new Hono();
    inner.use('*', note, webhookBackpressure({ intake })).post('/', (c) => c.text('inner'));
    const app = new Hono();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- Hono 4.0 has no other
    app.use('*', webhookBackpressure({ intake }), note).mount('/inner', inner.fetch);
    const response = await app.fetch(new Request('http://x/inner/', { method: 'POST' }));
    expect(await response.text()).toBe('inner');
    expect(requests[0]).not.toBe(requests[1]);
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

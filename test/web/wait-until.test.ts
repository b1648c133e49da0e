import { manualClock, until } from '@webhook-backpressure/core/testing';
import { withBackpressure, type WaitUntilOption } from '@webhook-backpressure/web';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serveWeb, settled } from './apps.ts';

interface Platform {
  waitUntil(promise: Promise<unknown>): void;
}

const VERCEL = Symbol.for('@vercel/request-context');
const NEXT = Symbol.for('@next/request-context');

/** A platform, and the promises that it was called with. Its function needs its receiver, as those of platforms do. */
function platform(): { platform: Platform; promises: Promise<unknown>[] } {
  const promises: Promise<unknown>[] = [];
  class Context {
    readonly #promises = promises;
    waitUntil(promise: Promise<unknown>): void {
      this.#promises.push(promise);
    }
  }
  return { platform: new Context(), promises };
}

const request = (): Request => new Request('http://x/', { method: 'POST' });
const isSettled = async (promise: Promise<unknown> | undefined): Promise<boolean> =>
  Promise.race([promise?.then(() => true), settled().then(() => false)]) as Promise<boolean>;

afterEach(() => {
  vi.restoreAllMocks();
  for (const name of [VERCEL, NEXT]) Reflect.deleteProperty(globalThis, name);
});

/** Properties that throw, as those of removed APIs do. */
const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error('This property was removed.');
    },
  },
);

type Arguments = (ctx: Platform) => [source: never, ...rest: unknown[]];

describe('waitUntil', () => {
  it.each<[name: string, args: Arguments]>([
    ['the execution context of Workers', (ctx) => [request() as never, {}, ctx]],
    ['the context of Netlify', (ctx) => [request() as never, ctx]],
    [
      'a request of srvx',
      (ctx) => [Object.assign(request(), { waitUntil: ctx.waitUntil.bind(ctx) }) as never],
    ],
    ['an event of H3 1', (ctx) => [{ req: request(), waitUntil: ctx.waitUntil.bind(ctx) } as never]],
    [
      'an event of H3 2',
      (ctx) => [{ req: Object.assign(request(), { waitUntil: ctx.waitUntil.bind(ctx) }) } as never],
    ],
    ['SvelteKit, platform.ctx', (ctx) => [{ request: request(), platform: { ctx } } as never]],
    ['SvelteKit, platform.context', (ctx) => [{ request: request(), platform: { context: ctx } } as never]],
    ['Astro 6 on Cloudflare', (ctx) => [{ request: request(), locals: { cfContext: ctx } } as never]],
    ['Astro 5 on Cloudflare', (ctx) => [{ request: request(), locals: { runtime: { ctx } } } as never]],
    [
      'Astro on Netlify, where the other properties throw',
      (ctx) => [
        {
          request: request(),
          platform: throwing,
          locals: { runtime: throwing, netlify: { context: ctx } },
        } as never,
      ],
    ],
  ])('of %s keeps the request alive until the worker is free', async (_name, argumentsOf) => {
    const { platform: ctx, promises } = platform();
    await expectKeptAlive(argumentsOf(ctx), promises);
  });

  it.each([
    ['Vercel', VERCEL],
    ['Next.js', NEXT],
  ])('of the global context of %s keeps the request alive', async (_name, symbol) => {
    const { platform: ctx, promises } = platform();
    Object.assign(globalThis, { [symbol]: { get: () => ctx } });
    await expectKeptAlive([request() as never], promises);
  });

  it('is not called for a context without a request', async () => {
    Object.assign(globalThis, { [VERCEL]: { get: () => undefined }, [NEXT]: {} });
    const { post } = serveWeb(() => new Response('done'));
    expect(await (await post()).text()).toBe('done');
  });

  it('of the option is called with the promise and the arguments, instead of that of the platform', async () => {
    const { platform: ctx, promises } = platform();
    const waitUntil = vi.fn<NonNullable<WaitUntilOption['waitUntil']>>();
    const { post } = serveWeb(() => new Response('done'), { waitUntil });
    await post({}, 'env', ctx);
    expect(waitUntil).toHaveBeenCalledExactlyOnceWith(expect.any(Promise), expect.any(Request), 'env', ctx);
    expect(promises).toEqual([]);
    expect(await isSettled(waitUntil.mock.calls[0]?.[0])).toBe(true);
  });

  it.each([
    ['has properties that throw', throwing],
    ['is not a function', { waitUntil: true }],
    [
      'throws',
      {
        waitUntil: () => {
          throw new Error('There is no request.');
        },
      },
    ],
  ])('does not fail a delivery when it %s', async (_how, ctx) => {
    const { post, snapshot } = serveWeb(() => new Response('done'));
    expect(await (await post({}, {}, ctx)).text()).toBe('done');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('does not hold a response when it returns a promise that never settles', async () => {
    const waitUntil = (): Promise<never> => new Promise(() => undefined);
    const { post, snapshot } = serveWeb(() => new Response('done'), { waitUntil });
    expect(await (await post()).text()).toBe('done');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('outside a request');
      },
    ],
    ['rejects', () => Promise.reject(new Error('outside a request'))],
    [
      'throws later',
      (promise: Promise<unknown>) =>
        promise.then(() => {
          throw new Error('late');
        }),
    ],
  ])('of the option fails no delivery, and warns once, when it %s', async (_what, waitUntil) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const guarded = withBackpressure(() => new Response('done'), { waitUntil });
    // Vitest fails on an unhandled rejection.
    for (let sent = 0; sent < 2; sent += 1) expect(await (await guarded(request())).text()).toBe('done');
    await vi.waitFor(() => {
      expect(warn).toHaveBeenCalledOnce();
    });
    expect(guarded.intake.snapshot().active).toBe(0);
  });

  it.each([false, true])(
    'lets the platform end a request whose handler never ends (sender gone: %s)',
    async (isGone) => {
      const clock = manualClock();
      const stays: Promise<unknown>[] = [];
      const waitUntil = (stay: Promise<unknown>): void => void stays.push(stay);
      const options = { clock, concurrency: 1, maxHandlingMs: 5000, waitUntil };
      const guarded = withBackpressure(() => new Promise<Response>(() => undefined), options);
      const sender = new AbortController();
      void guarded(new Request('http://x/', { method: 'POST', signal: sender.signal }));
      void guarded(request());
      await until(guarded.intake, ({ depth }) => depth === 1);
      if (isGone) sender.abort();
      clock.advance(5100);
      await stays[0];
      clock.advance(5100);
      await stays[1];
      expect(guarded.intake.snapshot().totals).toMatchObject({ overdue: 2 });
    },
  );

  it.each([null, 5, {}, 'after'])('must be a function, not %o', (waitUntil) => {
    expect(() => withBackpressure(() => new Response(), { waitUntil: waitUntil as never })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_CALLBACK' }),
    );
  });
});

async function expectKeptAlive(
  args: [source: never, ...rest: unknown[]],
  promises: Promise<unknown>[],
): Promise<void> {
  let end = (_response: Response): void => undefined;
  const guarded = withBackpressure(
    (_source: never, ..._rest: unknown[]) => new Promise<Response>((resolve) => (end = resolve)),
  );
  const response = guarded(...args);
  await settled();
  expect(promises).toHaveLength(1);
  expect(await isSettled(promises[0])).toBe(false);
  end(new Response('done'));
  expect(await (await response).text()).toBe('done');
  expect(await isSettled(promises[0])).toBe(true);
}

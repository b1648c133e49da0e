import { memoryStore, webhookInbox, withBackpressure } from '@webhook-backpressure/web';
import { afterEach, describe, expect, it } from 'vitest';

const request = (): Request => new Request('http://x/webhooks', { method: 'POST', body: '{}' });
const noContent = (): Response => new Response(null, { status: 204 });

/** The context of a platform, whose `waitUntil` needs its `this`, as that of Workers does. */
class Context {
  readonly kept: Promise<unknown>[] = [];

  waitUntil(promise: Promise<unknown>): void {
    this.kept.push(promise);
  }
}

describe('the waitUntil of a platform', () => {
  const globals = globalThis as Record<symbol, unknown>;
  const VERCEL = Symbol.for('@vercel/request-context');
  const NEXT = Symbol.for('@next/request-context');

  afterEach(() => {
    Reflect.deleteProperty(globals, VERCEL);
    Reflect.deleteProperty(globals, NEXT);
  });

  const context = new Context();
  const throwing = {
    get ctx() {
      throw new Error('Astro.locals.runtime.ctx has been removed');
    },
  };

  it.each<[string, unknown[]]>([
    ['the third argument of a Worker', [request(), { TOKEN: 'x' }, context]],
    ['the second argument on Netlify', [request(), context]],
    ['platform.ctx in SvelteKit on Cloudflare', [{ request: request(), platform: { ctx: context } }]],
    ['platform.context in SvelteKit on Netlify', [{ request: request(), platform: { context } }]],
    ['locals.cfContext in Astro', [{ request: request(), locals: { cfContext: context } }]],
    ['locals.runtime.ctx in older Astro', [{ request: request(), locals: { runtime: { ctx: context } } }]],
    ['locals.netlify.context in Astro', [{ request: request(), locals: { netlify: { context } } }]],
    ['the event of H3', [Object.assign(context, { req: request() })]],
    ['the request of srvx', [{ req: Object.assign(request(), keeping(context)) }]],
    [
      'a property after a getter that throws',
      [{ request: request(), locals: { runtime: throwing, netlify: { context } } }],
    ],
  ])('is found in %s', async (_where, args) => {
    await expectKept(args, context);
  });

  it.each([
    ['Vercel', VERCEL],
    ['Next.js', NEXT],
  ])('is found in the global context of %s', async (_platform, name) => {
    globals[name] = { get: () => context };
    await expectKept([request()], context);
  });

  it('fails no delivery when it throws', async () => {
    const waitUntil = (): never => {
      throw new Error('there is no request');
    };
    expect((await withBackpressure(noContent)(request(), ...([{ waitUntil }] as unknown as []))).status).toBe(
      204,
    );
  });

  it('is replaced by the option, which receives the arguments of the handler', async () => {
    const calls: unknown[][] = [];
    const handler = withBackpressure((_request: Request, _context: Context) => noContent(), {
      waitUntil: (...given) => calls.push(given),
    });
    const other = new Context();
    const sent = request();
    await handler(sent, other);
    expect(calls).toEqual([[expect.any(Promise), sent, other]]);
    expect(other.kept).toEqual([]);
  });
});

function keeping(context: Context): { waitUntil: (promise: Promise<unknown>) => void } {
  return {
    waitUntil: (promise) => {
      context.waitUntil(promise);
    },
  };
}

/** Expects that a delivery with these arguments is kept alive until its response is over. */
async function expectKept(args: readonly unknown[], { kept }: Context): Promise<void> {
  const before = kept.length;
  const handler = withBackpressure(noContent) as (...given: readonly unknown[]) => Promise<Response>;
  expect((await handler(...args)).status).toBe(204);
  expect(kept).toHaveLength(before + 1);
  await kept.at(-1);
}

describe('the route params of a delivery', () => {
  const params = { tenant: 'a' };

  it.each<[string, unknown[]]>([
    ['the event of SvelteKit', [{ request: request(), params }]],
    ['the event of H3', [{ req: request(), context: { params } }]],
    ['the second argument of older Next.js', [request(), { params }]],
    ['the second argument of Next.js', [request(), { params: Promise.resolve(params) }]],
  ])('are those of %s', async (_where, args) => {
    const found: unknown[] = [];
    const webhooks = webhookInbox({
      store: memoryStore(),
      process: () => undefined,
      verify: (delivery) => {
        found.push(delivery.params);
        return true;
      },
    });
    const receive = webhooks as (...given: readonly unknown[]) => Promise<Response>;
    expect((await receive(...args)).status).toBe(200);
    expect(found).toEqual([params]);
    await webhooks.inbox.close();
  });
});

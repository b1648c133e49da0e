import { memoryStore, webhookInbox, withBackpressure } from '@webhook-backpressure/web';
import { describe, expect, it } from 'vitest';
import { serveWeb, settled } from './web-app.ts';

/** As `node-fetch` makes them: the body is a stream of node. */
class ForeignResponse {
  readonly status: number = 200;
  readonly headers: Headers = new Headers();
  readonly bodyUsed: boolean = false;
  readonly body: object = { pipe: () => undefined };
}

async function disturbed(): Promise<Response> {
  const response = new Response('read');
  await response.text();
  return response;
}

function locked(): Response {
  const response = new Response('locked');
  response.body?.getReader();
  return response;
}

describe('what a handler returns', () => {
  it.each([
    ['nothing', () => undefined, 'completed'],
    ['null', () => null, 'completed'],
    ['a string', () => 'done', 'completed'],
    ['a number', () => 200, 'completed'],
    ['a response of a polyfill', () => new ForeignResponse(), 'completed'],
    [
      'a failed response of a polyfill',
      () => Object.assign(new ForeignResponse(), { status: 503 }),
      'failed',
    ],
    // No Response can be constructed with this status.
    [
      'a switch of protocols',
      () => Object.defineProperty(new Response(), 'status', { value: 101 }),
      'completed',
    ],
    ['Response.error()', () => Response.error(), 'failed'],
    ['a response whose body was read', disturbed, 'completed'],
    ['a response whose body has another reader', locked, 'completed'],
  ])('passes untouched and frees the worker: %s', async (_what, returned, total) => {
    const value: unknown = await returned();
    const { post, snapshot } = serveWeb(() => value as Response, { standardHeaders: 'draft-8' });
    expect(await post()).toBe(value);
    expect(snapshot()).toMatchObject({ active: 0, totals: { admitted: 1, [total]: 1 } });
  });

  it('passes untouched from the handler of refusals', async () => {
    const { post } = serveWeb(() => new Response(), {
      shed: { default: true },
      handler: () => undefined,
      standardHeaders: 'draft-8',
    });
    expect(await post()).toBe(undefined);
  });
});

describe('a request that is aborted', () => {
  it.each(['before it arrives', 'in the queue', 'while it is handled'])('%s gets no body', async (phase) => {
    let handled = 0;
    let end = (): void => undefined;
    const { post, snapshot } = serveWeb(async () => {
      handled += 1;
      await new Promise<void>((resolve) => (end = resolve));
      return new Response(null, { status: 204 });
    });
    const gone = new AbortController();
    if (phase === 'before it arrives') gone.abort();
    const first = phase === 'in the queue' ? post() : undefined;
    const aborted = post({ signal: gone.signal });
    await settled();
    gone.abort();
    end();
    expect((await aborted).status).toBe(phase === 'while it is handled' ? 204 : 503);
    await first;
    expect(handled).toBe(phase === 'before it arrives' ? 0 : 1);
    expect(snapshot()).toMatchObject({ active: 0, depth: 0 });
  });
});

describe('a call without a request', () => {
  const ERROR = expect.objectContaining({ code: 'ERR_WBP_REQUEST' }) as Error;
  const NODE = { method: 'POST', url: '/', headers: { host: 'x' } };

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'http://x/'],
    ['a request of node:http', NODE],
    ['an object that holds one', { req: NODE }],
  ])('rejects with ERR_WBP_REQUEST: %s', async (_what, source) => {
    const guarded = withBackpressure(() => new Response());
    const webhooks = webhookInbox({ store: memoryStore(), verify: false, process: () => undefined });
    await expect(guarded(source as never)).rejects.toThrow(ERROR);
    await expect(webhooks(source as never)).rejects.toThrow(ERROR);
    expect(guarded.intake.snapshot().totals.admitted).toBe(0);
    await webhooks.inbox.close();
  });
});

describe('the route params', () => {
  const request = (): Request => new Request('http://x/', { method: 'POST', body: '{}' });
  const params = { tenant: 'a' };

  it.each<[name: string, args: [never, ...unknown[]], expected: object | undefined]>([
    ['SvelteKit, Astro and Elysia', [{ request: request(), params } as never], params],
    ['Bun', [Object.assign(request(), { params }) as never], params],
    ['H3', [{ req: request(), context: { params } } as never], params],
    ['Next.js 14', [request() as never, { params }], params],
    ['Next.js 15', [request() as never, { params: Promise.resolve(params) }], params],
    ['a handler without any', [request() as never], undefined],
    ['Workers, whose second argument is the environment', [request() as never, {}], undefined],
    ['a server whose second argument is null', [request() as never, null], undefined],
    ['a value that is no object', [request() as never, { params: 'tenant' }], undefined],
  ])('are those of %s', async (_name, args, expected) => {
    const seen: unknown[] = [];
    const webhooks = webhookInbox({
      store: memoryStore(),
      verify(delivery) {
        seen.push(delivery.params);
        return true;
      },
      process: () => undefined,
    });
    expect((await webhooks(...args)).status).toBe(200);
    expect(seen).toEqual([expected ?? {}]);
    await webhooks.inbox.close();
  });
});

import { memoryStore, webhookInbox } from '@webhook-backpressure/web/inbox';
import { withBackpressure } from '@webhook-backpressure/web';
import { describe, expect, it } from 'vitest';

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

describe('the inbox', () => {
  it('throws ERR_WBP_BODY_READ when the body has another reader', async () => {
    const receive = webhookInbox({ store: memoryStore(), verify: false, process: () => undefined });
    const request = new Request('http://x/', { method: 'POST', body: '{}' });
    request.body?.getReader();
    await expect(receive(request)).rejects.toMatchObject({ code: 'ERR_WBP_BODY_READ' });
    await receive.inbox.close();
  });
});

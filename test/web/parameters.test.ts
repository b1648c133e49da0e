import { memoryStore, webhookInbox } from '@webhook-backpressure/web/inbox';
import { withBackpressure } from '@webhook-backpressure/web';
import { describe, expect, it } from 'vitest';

// Deno.serve passes only as many arguments as the function declares.
it('declares the parameters of its handler, and at least the request', () => {
  const respond = (): Response => new Response();
  const handlers = [respond, (_: Request) => respond(), (_: Request, _info: never) => respond()];
  expect(handlers.map((handler) => withBackpressure(handler).length)).toEqual([1, 1, 2]);
});

describe('the first argument of a handler', () => {
  const request = (): Request => new Request('http://x/', { method: 'POST', body: '{}' });
  const { headers, method, url } = request();

  it.each([
    ['a request', request()],
    ['an event of SvelteKit', { request: request(), url }],
    ['a context of Elysia', { request: request(), headers: {}, body: undefined, path: '/' }],
    ['an event of H3', { req: request(), headers, method, path: '/' }],
  ])('is %s', async (_name, source) => {
    const webhooks = webhookInbox({ store: memoryStore(), verify: false, process: () => undefined });
    expect((await webhooks(source)).status).toBe(200);
    await webhooks.inbox.close();
  });
});

// `next build` fails otherwise: it reads the last of several forms.
it('has the type Request for Next.js, in the inbox', () => {
  type First = Parameters<ReturnType<typeof webhookInbox>>[0];
  const isRequest: First extends Request ? true : false = true;
  expect(isRequest).toBe(true);
});

import { type InboxDelivery, memoryStore } from '@webhook-backpressure/inbox';
import { type Inbox, webhookInbox } from '@webhook-backpressure/fastify/inbox';
import type { onRequestHookHandler } from 'fastify';
import { describe, expect, it } from 'vitest';
import { post, versions } from './apps.ts';

function receiver(): { webhooks: ReturnType<typeof webhookInbox>; processed: Promise<InboxDelivery> } {
  let done: (delivery: InboxDelivery) => void = () => undefined;
  const processed = new Promise<InboxDelivery>((resolve) => (done = resolve));
  const webhooks = webhookInbox({
    store: memoryStore(),
    verify: false,
    process(delivery) {
      done(delivery);
    },
  });
  return { webhooks, processed };
}

const pass: onRequestHookHandler = (_request, _reply, done) => {
  done();
};

describe.each(versions)('the route of an inbox on $name', ({ create }) => {
  it('receives the exact bytes, whatever parsers, limits and schemas the app has', async () => {
    const app = create({ bodyLimit: 5 });
    const { webhooks, processed } = receiver();
    const inbox: Inbox = webhooks.inbox;
    const calls: string[] = [];
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      calls.push('preParsing');
      done(null, payload);
    });
    app.post('/hooks/:shop', { ...webhooks, schema: { body: { type: 'string' } } });
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/hooks/a',
      headers: { 'content-type': 'application/never-heard-of', 'webhook-id': '7' },
      payload: '{ "type":  "order.created" }',
    });
    expect([statusCode, JSON.parse(body)]).toEqual([200, { id: '7', status: 'accepted' }]);
    const delivery = await processed;
    expect([delivery.text(), delivery.params]).toEqual(['{ "type":  "order.created" }', { shop: 'a' }]);
    expect(calls).toEqual([]);
    await inbox.close();
  });

  it('runs after the hooks of its scope, which may answer', async () => {
    const app = create();
    const { webhooks } = receiver();
    app.addHook('onRequest', async ({ headers }, reply) => {
      await Promise.resolve();
      if (headers['x-secret'] === undefined) return reply.code(403).send();
      return reply.header('X-Seen', '1');
    });
    app.post('/', webhooks);
    expect((await post(app)).statusCode).toBe(403);
    expect(webhooks.inbox.snapshot().totals.stored).toBe(0);
  });

  it('responds to other methods with 405, or with the handler of the user', async () => {
    const app = create();
    const { webhooks } = receiver();
    app.all('/', webhooks);
    app.all('/own', { ...webhooks, handler: (_request, reply) => reply.send('verified') });
    const { statusCode, headers } = await app.inject({ url: '/' });
    expect([statusCode, headers.allow]).toEqual([405, 'POST']);
    expect((await app.inject({ url: '/own' })).body).toBe('verified');
    expect((await post(app, '/own')).statusCode).toBe(200);
  });

  it('fails with a hint when its hook has been replaced', async () => {
    const app = create();
    const { webhooks } = receiver();
    app.post('/', { ...webhooks, onRequest: pass });
    const { statusCode, body } = await post(app);
    expect([statusCode, (JSON.parse(body) as { message: string }).message]).toEqual([
      500,
      expect.stringContaining('keep its onRequest hook'),
    ]);
  });

  it('is a hook that can be combined with others', async () => {
    const app = create();
    const { webhooks } = receiver();
    const calls: string[] = [];
    app.route({
      method: 'POST',
      url: '/',
      handler: webhooks.handler,
      onRequest: [
        (_request, _reply, done) => {
          calls.push('first');
          done();
        },
        webhooks.onRequest,
      ],
      onResponse: (_request, reply, done) => {
        calls.push(String(reply.statusCode));
        done();
      },
    });
    expect((await post(app)).statusCode).toBe(200);
    expect(calls).toEqual(['first', '200']);
  });
});

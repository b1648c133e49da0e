import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createIntake } from '@webhook-backpressure/core';
import { readiness, webhookBackpressure } from '@webhook-backpressure/fastify';
import { withBackpressure } from '@webhook-backpressure/node';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { post, until, versions } from './apps.ts';

describe.each(versions)('a server of $name', ({ create }) => {
  it('refuses before Fastify runs when the middleware is in front, without asking for the body', async () => {
    const intake = createIntake({ shed: { default: true } });
    let handled = 0;
    const app = create({
      serverFactory(handler) {
        const listener = withBackpressure(handler, { intake });
        return createServer(listener).on('checkContinue', listener);
      },
    });
    app.addHook('onRequest', (_request, _reply, done) => {
      handled += 1;
      done();
    });
    app.post('/', () => 'handled');
    await app.listen({ port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const headers = { Expect: '100-continue', 'Content-Length': '5' };
    const sending = request({ port, method: 'POST', headers, agent: false });
    let isAsked = false;
    sending.on('continue', () => {
      isAsked = true;
    });
    sending.flushHeaders();
    const [answer] = (await once(sending, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
    expect([answer.statusCode, handled, isAsked]).toEqual([503, 0, false]);
    sending.destroy();
    app.server.closeAllConnections();
    await app.close();
  });

  it('reports its readiness, also while it drains', async () => {
    const app = create();
    await app.register(webhookBackpressure);
    app.get('/ready', readiness(app.backpressure.intake));
    const ready = await app.inject({ url: '/ready' });
    expect([ready.statusCode, ready.body]).toEqual([200, '{"status":"ready"}']);
    expect(ready.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    await app.backpressure.intake.close();
    const closing = await app.inject({ url: '/ready' });
    expect([closing.statusCode, closing.body]).toEqual([503, '{"status":"closing"}']);
  });

  it('handles waiting deliveries and refuses new ones when the intake closes before the app', async () => {
    const app = create();
    const finish: (() => void)[] = [];
    await app.register(webhookBackpressure, { concurrency: 1 });
    app.post('/', async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return 'done';
    });
    const { intake } = app.backpressure;
    const first = post(app);
    await until(() => finish.length === 1);
    const waiting = post(app);
    await until(() => intake.snapshot().depth === 1);
    const closed = intake.close().then(() => app.close());
    const refused = await post(app);
    expect([refused.statusCode, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
    finish[0]?.();
    await until(() => finish.length === 2);
    finish[1]?.();
    expect([(await first).body, (await waiting).body]).toEqual(['done', 'done']);
    await closed;
  });
});

describe('a server of HTTP/2', () => {
  it('admits and refuses streams', async () => {
    const app = fastify({ http2: true });
    await app.register(webhookBackpressure, {
      path: '/',
      keyGenerator: ({ url }) => url,
      shed: { '/shed': true },
    });
    app.post('/shed', () => 'handled');
    app.post('/', ({ backpressure, body }) => ({ key: backpressure?.key, body }));
    await app.listen({ port: 0 });
    const session = connect(`http://127.0.0.1:${String((app.server.address() as AddressInfo).port)}`);
    const send = async (path: string): Promise<[unknown, string]> => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/json',
      });
      stream.end('{"a":1}');
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      let text = '';
      for await (const part of stream) text += String(part);
      return [headers[':status'], text];
    };
    expect(await send('/')).toEqual([200, '{"key":"/","body":{"a":1}}']);
    expect(await send('/shed')).toEqual([503, expect.stringContaining('"reason":"shed"')]);
    expect(app.backpressure.intake.snapshot().active).toBe(0);
    session.close();
    await app.close();
  });
});

import type { WebhookBackpressureOptions } from '@webhook-backpressure/fastify';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { post, protectedApp, versions } from './apps.ts';

describe.each(versions)('a refusal on $name', ({ create }) => {
  async function refusing(options: WebhookBackpressureOptions = {}): Promise<FastifyInstance> {
    const app = await protectedApp(create, { shed: { default: true }, ...options });
    app.post('/', () => 'handled');
    return app;
  }

  it('is sent to inject with its headers and its body', async () => {
    const { statusCode, headers, body } = await post(await refusing());
    expect([statusCode, JSON.parse(body)]).toEqual([503, expect.objectContaining({ reason: 'shed' })]);
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'retry-after': expect.stringMatching(/^\d+$/) as string,
    });
  });

  it('leaves no timer behind a request of inject, which has no connection to close', async () => {
    const apps = [await refusing(), await refusing({ onRefused: () => 'refused' })];
    for (const app of apps) await app.ready();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const app of apps) {
        for (const payload of ['small', 'x'.repeat(100_000)]) {
          const headers = { 'content-type': 'text/plain' };
          const { statusCode } = await app.inject({ method: 'POST', url: '/', headers, payload });
          expect([statusCode, vi.getTimerCount()]).toEqual([app === apps[0] ? 503 : 200, 0]);
        }
      }
    } finally {
      vi.useRealTimers();
    }
  }, 2000);

  it('has the headers of earlier hooks, passes onResponse hooks, and no others', async () => {
    const app = create();
    const hooks: string[] = [];
    app.addHook('onRequest', async (_request, reply) => {
      await Promise.resolve();
      void reply.header('X-Request-Id', '7');
      reply.header('Set-Cookie', 'a=1').header('Set-Cookie', 'b=2');
    });
    for (const name of ['preParsing', 'preHandler', 'onSend', 'onError'] as const)
      app.addHook(name, (() => Promise.resolve(void hooks.push(name))) as never);
    app.addHook('onResponse', (_request, reply, done) => {
      hooks.push(`onResponse ${String(reply.statusCode)}`);
      done();
    });
    const { webhookBackpressure } = await import('@webhook-backpressure/fastify');
    await app.register(webhookBackpressure, { shed: { default: true } });
    app.post('/', () => 'handled');
    const { statusCode, headers } = await post(app);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'x-request-id': '7', 'set-cookie': ['a=1', 'b=2'] });
    expect(hooks).toEqual(['onResponse 503']);
  });

  it('is logged as a completed request', async () => {
    const lines: { msg: string; res?: { statusCode: number } }[] = [];
    const stream = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) };
    const app = create({ logger: { stream } });
    const { webhookBackpressure } = await import('@webhook-backpressure/fastify');
    await app.register(webhookBackpressure, { shed: { default: true } });
    app.post('/', () => 'handled');
    await post(app);
    expect(lines.map(({ msg, res }) => [msg, res?.statusCode])).toEqual([
      ['incoming request', undefined],
      ['request completed', 503],
    ]);
  });

  it.each<[string, WebhookBackpressureOptions['onRefused']]>([
    ['returns', ({ reason }) => ({ reason })],
    ['resolves to', ({ reason }) => Promise.resolve({ reason })],
    ['sends', ({ reason }, _request, reply) => void reply.send({ reason })],
    ['sends and returns', ({ reason }, _request, reply) => reply.send({ reason })],
  ])('is answered with what a handler %s, through all hooks', async (_how, handler) => {
    const app = await refusing({ onRefused: handler });
    app.addHook('onSend', async (_request, reply, payload) => {
      await Promise.resolve();
      void reply.header('X-Sent', '1');
      return payload;
    });
    const { statusCode, headers, body } = await post(app);
    expect([statusCode, body, headers['x-sent']]).toEqual([200, '{"reason":"shed"}', '1']);
    expect(app.backpressure.intake.snapshot().totals.admitted).toBe(0);
  });
});

import { createIntake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/fastify';
import { describe, expect, it } from 'vitest';
import { post, protectedApp, versions } from './apps.ts';

describe.each(versions)('the plugin on $name', ({ create }) => {
  it('serves requests of inject, with bodies', async () => {
    const app = await protectedApp(create);
    app.post('/', ({ body, backpressure }) => ({ body, key: backpressure?.key }));
    const { statusCode, body } = await post(app);
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      { body: { type: 'order.created' }, key: 'default' },
    ]);
    expect(app.backpressure.intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('applies to the scope in which it is registered and to those inside it', async () => {
    const app = create();
    const names: (string | undefined)[] = [];
    app.post('/outside', ({ backpressure }) => names.push(backpressure?.key));
    await app.register(async (scope) => {
      await scope.register(webhookBackpressure);
      scope.post('/in', ({ backpressure }) => names.push(backpressure?.key));
      await scope.register((inner, _options, done) => {
        inner.post('/deep', ({ backpressure }) => names.push(backpressure?.key));
        done();
      });
      expect(scope.backpressure.intake.snapshot().active).toBe(0);
    });
    for (const url of ['/outside', '/in', '/deep']) await post(app, url);
    expect(names).toEqual([undefined, 'default', 'default']);
    expect(app.hasDecorator('backpressure')).toBe(false);
  });

  it('has an intake for each scope, and counts a request once where two scopes share one', async () => {
    const intake = createIntake();
    const app = await protectedApp(create, { intake, path: '/' });
    await app.register(async (scope) => {
      await scope.register(webhookBackpressure, { intake });
      scope.post('/same', () => 'done');
    });
    await app.register(async (scope) => {
      await scope.register(webhookBackpressure, { concurrency: 1 });
      scope.post('/other', () => scope.backpressure.intake.snapshot().active);
    });
    expect((await post(app, '/same')).statusCode).toBe(200);
    expect(intake.snapshot().totals).toMatchObject({ admitted: 1, completed: 1 });
    expect((await post(app, '/other')).body).toBe('1');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { admitted: 2, completed: 2 } });
  });

  it('closes its own intake with the app, and leaves a shared one to its owner', async () => {
    const own = await protectedApp(create);
    const { intake } = own.backpressure;
    await own.close();
    expect(intake.snapshot().state).toBe('closed');
    const shared = createIntake();
    await (await protectedApp(create, { intake: shared })).close();
    expect(shared.snapshot().state).toBe('accepting');
  });

  it('fails to load with the code of an invalid option', async () => {
    const app = create();
    app.register(webhookBackpressure, { concurrency: -1 });
    await expect(app.ready()).rejects.toMatchObject({ code: 'ERR_WBP_CONCURRENCY' });
  });

  it('fails to load twice in one scope, and where another plugin uses the name', async () => {
    const twice = create();
    twice.register(webhookBackpressure);
    twice.register(webhookBackpressure);
    await expect(twice.ready()).rejects.toMatchObject({ code: 'FST_ERR_DEC_ALREADY_PRESENT' });
    const taken = create();
    taken.decorateRequest('backpressure', undefined);
    taken.register(webhookBackpressure);
    await expect(taken.ready()).rejects.toMatchObject({ code: 'FST_ERR_DEC_ALREADY_PRESENT' });
  });

  it('protects routes that are declared before it has loaded', async () => {
    const app = create();
    app.register(webhookBackpressure);
    app.post('/', ({ backpressure }) => backpressure?.key);
    expect((await post(app)).body).toBe('default');
    expect(app.backpressure.intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit when a hook, a schema or the body limit answers', async () => {
    const app = await protectedApp(create, { concurrency: 1, path: '/' });
    const schema = { body: { type: 'object', required: ['id'] } };
    app.post('/schema', { schema }, () => 'done');
    app.post('/limit', { bodyLimit: 5 }, () => 'done');
    app.post('/hook', { preHandler: async (_request, reply) => reply.code(401).send() }, () => 'done');
    app.post('/error', { preValidation: () => Promise.reject(new Error('no')) }, () => 'done');
    const codes: number[] = [];
    for (const url of ['/schema', '/limit', '/hook', '/error', '/unknown'])
      codes.push((await post(app, url)).statusCode);
    codes.push((await app.inject({ method: 'POST', url: '/schema', payload: '<a>' })).statusCode);
    expect(codes).toEqual([400, 413, 401, 500, 404, expect.any(Number)]);
    expect(app.backpressure.intake.snapshot()).toMatchObject({ active: 0, depth: 0, totals: { failed: 1 } });
  });
});

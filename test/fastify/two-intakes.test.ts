import { webhookBackpressure } from '@webhook-backpressure/fastify';
import { createIntake } from '@webhook-backpressure/core';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';

it('releases the permits of two intakes when a handler sends its reply from a callback', async () => {
  const [outer, inner] = [createIntake({ concurrency: 1 }), createIntake({ concurrency: 1 })];
  const app = fastify();
  await app.register(webhookBackpressure, { intake: outer });
  await app.register(async (scope) => {
    await scope.register(webhookBackpressure, { intake: inner });
    scope.post('/webhooks', async (_request, reply) => {
      setImmediate(() => void reply.send('sent'));
      return reply;
    });
  });
  // With one worker each, a delivery starts only when the one before it has released both permits.
  for (let delivery = 0; delivery < 3; delivery += 1) {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/webhooks' });
    expect([statusCode, body]).toEqual([200, 'sent']);
  }
  await app.close();
});

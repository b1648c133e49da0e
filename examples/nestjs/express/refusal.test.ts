// refusal.test.ts
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { createIntake } from '@webhook-backpressure/express';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppModule } from '../app.module.js';
import { INTAKE } from '../intake.module.js';
import { mountWebhooks } from './mount-webhooks.js';

void test('refuses deliveries of a tenant that is switched off', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(INTAKE)
    .useValue(createIntake({ shed: { shop: true } }))
    .compile();
  const app = testing.createNestApplication<NestExpressApplication>({ rawBody: true });
  mountWebhooks(app); // before app.init()
  await app.listen(0);

  const headers = { 'x-api-key': 'secret-of-shop' };
  const refused = await fetch(`${await app.getUrl()}/webhooks`, { method: 'POST', headers });
  assert.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);
  await app.close();
});

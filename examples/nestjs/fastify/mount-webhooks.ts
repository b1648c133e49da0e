// mount-webhooks.ts
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { readiness, webhookBackpressure, type Intake } from '@webhook-backpressure/fastify';
import { INTAKE } from '../intake.module.js';
import { tenantOf } from '../tenants.js';

export async function mountWebhooks(app: NestFastifyApplication): Promise<void> {
  const intake = app.get<Intake>(INTAKE);
  app.getHttpAdapter().getInstance().get('/ready', readiness(intake));
  await app.register(webhookBackpressure, {
    intake,
    keyGenerator: tenantOf,
    // Nest registers all controllers in one scope, so the plugin sees every request.
    path: '/webhooks',
  });
}

// mount-webhooks.ts
import type { NestExpressApplication } from '@nestjs/platform-express';
import { readiness, webhookBackpressure, type Intake } from '@webhook-backpressure/express';
import { INTAKE } from '../intake.module.js';
import { tenantOf } from '../tenants.js';

// Before app.init() and app.listen(), which add Nest's body parsers.
export function mountWebhooks(app: NestExpressApplication): void {
  const intake = app.get<Intake>(INTAKE);
  app.use('/ready', readiness(intake));
  app.use('/webhooks', webhookBackpressure({ intake, keyGenerator: tenantOf }));
  app.useBodyParser('json', { limit: '1mb' }); // Nest's default is 100 kB
}

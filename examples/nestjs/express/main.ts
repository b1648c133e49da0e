// main.ts
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { mountWebhooks } from './mount-webhooks.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true });
  mountWebhooks(app);
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(await app.getUrl());
}

void bootstrap();

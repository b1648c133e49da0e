// main.ts
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { mountWebhooks } from './mount-webhooks.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), {
    rawBody: true,
  });
  await mountWebhooks(app);
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(await app.getUrl());
}

void bootstrap();

// inbox.ts
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { INBOX, InboxModule, type WebhookInbox } from './inbox.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(InboxModule, new FastifyAdapter());
  app.getHttpAdapter().getInstance().post('/webhooks', app.get<WebhookInbox>(INBOX));
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(await app.getUrl());
}

void bootstrap();

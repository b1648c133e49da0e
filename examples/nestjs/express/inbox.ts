// inbox.ts
import { NestFactory } from '@nestjs/core';
import { INBOX, InboxModule, type WebhookInbox } from './inbox.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(InboxModule);
  // Before app.init() and app.listen(), which add Nest's body parsers.
  app.use('/webhooks', app.get<WebhookInbox>(INBOX));
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3000);
  console.log(await app.getUrl());
}

void bootstrap();

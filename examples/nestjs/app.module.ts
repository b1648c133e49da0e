// app.module.ts
import { Module } from '@nestjs/common';
import { IntakeModule } from './intake.module.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({ imports: [IntakeModule], controllers: [WebhooksController] })
export class AppModule {}

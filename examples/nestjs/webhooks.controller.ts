// webhooks.controller.ts
import { Controller, HttpCode, Post, Req, UseGuards, type RawBodyRequest } from '@nestjs/common';
import type { Request } from 'express'; // on Fastify: import type { FastifyRequest } from 'fastify'
import { TenantGuard } from './tenants.js';

@Controller('webhooks')
@UseGuards(TenantGuard)
export class WebhooksController {
  @Post()
  @HttpCode(204)
  receive(@Req() { backpressure, rawBody }: RawBodyRequest<Request>): void {
    // Verify the signature over rawBody here, then do the work.
    console.log(backpressure?.key, 'waited', backpressure?.waitedMs, 'ms:', rawBody?.toString());
  }
}

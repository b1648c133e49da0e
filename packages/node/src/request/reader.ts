import type { IncomingMessage } from 'node:http';
import type { RequestReader } from '@webhook-backpressure/core/middleware';
import { headersOf, methodOf } from './read-property.ts';

/** How every server on node:http reads a request. */
export const nodeReader: RequestReader<IncomingMessage> = {
  method: (request) => methodOf(request) ?? 'GET',
  identity: (request) => request,
  headers: (request) => headersOf(request),
  warn: (code, message) => {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  },
};

import type { IncomingMessage } from 'node:http';
import type { RequestReader } from '@webhook-backpressure/core';
import { readProperty } from './read-property.ts';

/** How every server on node:http reads a request. */
export const nodeReader: RequestReader<IncomingMessage> = {
  method: (request) => readProperty(request, 'method') ?? 'GET',
  identity: (request) => request,
  headers: (request) => readProperty(request, 'headers'),
  warn: (code, message) => {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  },
};

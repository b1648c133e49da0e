import type { IncomingMessage } from 'node:http';
import type { RequestReader } from '@webhook-backpressure/core';

/** How every server on node:http reads a request. */
export const nodeReader: RequestReader<IncomingMessage> = {
  method: (request) => request.method ?? 'GET',
  identity: (request) => request,
  headers: (request) => request.headers,
  warn: (code, message) => {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  },
};

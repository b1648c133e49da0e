import type { IncomingMessage } from 'node:http';
import { headerLines, type RequestReader } from '@webhook-backpressure/core';
import { look } from './look.ts';

/** How every server on node:http reads a request. */
export const nodeReader: RequestReader<IncomingMessage> = {
  method: (request) => look(request, 'method') ?? 'GET',
  // To look for what is not there is dearer than to ask whether it is.
  info: (request) => (Object.hasOwn(request, 'backpressure') ? look(request, 'backpressure') : undefined),
  headers: (request) => headerLines(look(request, 'rawHeaders'), request),
  warn: (code, message) => {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  },
};

import {
  type AdmissionControl,
  createAdmissionControl,
  type Handling,
  type RequestReader,
} from '@webhook-backpressure/core/middleware';
import type { MiddlewareOptions } from '@webhook-backpressure/core';

export interface Request {
  readonly method: string;
  readonly target?: string;
  readonly headers?: Record<string, string>;
}

export const reader: RequestReader<Request> = {
  method: (request) => request.method,
  identity: (request) => request,
  targets: ({ target = '/' }) => [target],
  headers: (request) => request.headers ?? {},
  warn: () => undefined,
};

/** The admission control of a middleware whose framework calls such an object a request. */
export function control(options: MiddlewareOptions<Request> = {}): AdmissionControl<Request> {
  return createAdmissionControl(options, reader);
}

export const POST: Request = { method: 'POST' };

/** What the handler of a request finds. */
export function handled(guarding: AdmissionControl<Request>, request: Request): Handling {
  const handling = guarding.admit(guarding.read(request));
  if (!handling.admitted || !handling.tryStart()) throw new Error('It should have started.');
  return handling;
}

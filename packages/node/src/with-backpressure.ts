import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { BackpressureError } from '@webhook-backpressure/base';
import { createAdmissionControl } from '@webhook-backpressure/core/middleware';
import type { BackpressureInfo, Intake, MiddlewareOptions } from '@webhook-backpressure/core';
import { RequestAdmission, type Verdict } from './request/request-admission.ts';
import { processWarnings } from './failure-warnings.ts';
import { nodeReader } from './request/reader.ts';
import { boundBody, setHeaders, writeRefusal } from './request/refuse.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** What `withBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure?: BackpressureInfo;
  }
}

/** Any function that answers requests: your own, an Express app, or `app.callback()` of Koa. */
export type RequestListener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** The options of {@link withBackpressure}. A `handler` receives the refusal, the request and the response. */
export type WithBackpressureOptions = MiddlewareOptions<
  IncomingMessage,
  [req: IncomingMessage, res: ServerResponse]
>;

/**
 * Puts an intake in front of a request listener: it decides before any framework runs. The same function serves
 * `request` and `checkContinue`; on the latter a sender that sends `Expect: 100-continue` is refused before it sends
 * its body.
 *
 * A listener or a callback that throws, or rejects, is answered with 500 and reported as a process warning.
 *
 * @throws BackpressureError with the code of the first option that is wrong, and `ERR_WBP_CALLBACK` when the
 * listener is no function.
 *
 * @example
 * ```ts
 * const listener = withBackpressure(app)
 * createServer(listener).on('checkContinue', listener).listen(3000)
 * ```
 */
export function withBackpressure(
  listener: RequestListener,
  options: WithBackpressureOptions = {},
): ((req: IncomingMessage, res: ServerResponse) => void) & { intake: Intake } {
  if (typeof (listener as unknown) !== 'function') {
    throw new BackpressureError(
      'ERR_WBP_CALLBACK',
      `The first argument of withBackpressure() must be a request listener (a function), but was ${inspect(listener, { depth: 0 })}.`,
    );
  }
  const control = createAdmissionControl<IncomingMessage, [IncomingMessage, ServerResponse]>(
    options,
    nodeReader,
  );
  const { handler } = options;
  const admission = new RequestAdmission(control);

  const settle = (self: unknown, req: IncomingMessage, res: ServerResponse, verdict: Verdict): unknown => {
    if (verdict === null) return undefined;
    if (verdict.admitted) {
      req.backpressure = verdict;
      setHeaders(res, control.fields());
      const returned = listener.call(self, req, res);
      verdict.follow(returned);
      return returned;
    }
    if (handler === undefined) {
      const awaitsContinue = isCheckContinue(self, req, guarded);
      writeRefusal(req, res, verdict, { fields: control.fields(verdict), awaitsContinue });
      return undefined;
    }
    boundBody(req, res);
    setHeaders(res, control.fields(verdict));
    return handler(verdict, req, res);
  };

  const decide = (self: unknown, req: IncomingMessage, res: ServerResponse, skips: boolean): unknown => {
    const askForBody = isCheckContinue(self, req, guarded) ? askOnce(res) : undefined;
    if (skips) {
      askForBody?.();
      return listener.call(self, req, res);
    }
    const verdict = admission.admit(req, req, res, askForBody);
    return verdict instanceof Promise
      ? settleLater(self, req, res, verdict)
      : settle(self, req, res, verdict);
  };

  // Functions of their own: V8 allocates a context at each call of a function whose parameters a closure captures.
  const settleLater = async (
    self: unknown,
    req: IncomingMessage,
    res: ServerResponse,
    verdict: Promise<Verdict>,
  ): Promise<unknown> => settle(self, req, res, await verdict);
  const decideLater = async (
    self: unknown,
    req: IncomingMessage,
    res: ServerResponse,
    skips: Promise<boolean>,
  ): Promise<unknown> => decide(self, req, res, await skips);

  const guarded = answeringFailures((self, req, res) => {
    const skips = control.skips(req);
    return typeof skips === 'boolean' ? decide(self, req, res, skips) : decideLater(self, req, res, skips);
  });
  return Object.assign(guarded, { intake: control.intake });
}

/**
 * Whether node expects this listener to answer `Expect: 100-continue`. Node emits `checkContinue` instead of `request`
 * for such a request if there is a listener for it. If that is the caller's own listener and not this one, it has asked
 * for the body before it passed the request on.
 */
function isCheckContinue(server: unknown, req: IncomingMessage, listener: RequestListener): boolean {
  if (req.headers.expect === undefined || !(server instanceof EventEmitter)) return false;
  return /^100-continue$/i.test(req.headers.expect) && server.listeners('checkContinue').includes(listener);
}

function askOnce(res: ServerResponse): () => void {
  let isAsked = false;
  return () => {
    if (!isAsked) res.writeContinue();
    isAsked = true;
  };
}

/**
 * Makes a listener that answers with 500 when `listen` throws or rejects. Without a framework there is no error path, so
 * each listener warns its operator, and counts its failures separately.
 */
export function answeringFailures(
  listen: (self: unknown, req: IncomingMessage, res: ServerResponse) => unknown,
): (this: unknown, req: IncomingMessage, res: ServerResponse) => void {
  const failures = processWarnings('WBP_LISTENER_FAILED');
  const fail = (req: IncomingMessage, res: ServerResponse, error: unknown): void => {
    if (!res.headersSent) res.writeHead(500, { 'Content-Length': 0 }).end();
    // A part of an answer is cut off, so that it is not taken for the whole; a complete one is left to arrive.
    else if (!res.writableEnded) res.destroy();
    failures.note(`${req.method ?? ''} was answered with 500`, error);
  };
  const failLater = (req: IncomingMessage, res: ServerResponse, result: Promise<unknown>): void => {
    result.catch((error: unknown) => {
      fail(req, res, error);
    });
  };
  return function (this: unknown, req, res) {
    try {
      const result = listen(this, req, res);
      if (result instanceof Promise) failLater(req, res, result);
    } catch (error) {
      fail(req, res, error);
    }
  };
}

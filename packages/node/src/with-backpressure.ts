import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import {
  BackpressureError,
  createAdmissionControl,
  type BackpressureInfo,
  type Intake,
  type MiddlewareOptions,
} from '@webhook-backpressure/core';
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

/** Any function that answers requests: of one's own, an Express app, `app.callback()` of Koa. */
export type RequestListener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** The options of {@link withBackpressure}. A `handler` is given the refusal, the request and the response. */
export type WithBackpressureOptions = MiddlewareOptions<
  IncomingMessage,
  [req: IncomingMessage, res: ServerResponse]
>;

/**
 * Puts an intake in front of a request listener: it decides before any framework runs. The same function serves
 * `request` and `checkContinue`; in front of the latter a sender that asks first is refused before it sends its
 * body.
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
  const attempt = answeringFailures();

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
      ? verdict.then((late) => settle(self, req, res, late))
      : settle(self, req, res, verdict);
  };
  function guarded(this: unknown, req: IncomingMessage, res: ServerResponse): void {
    attempt(req, res, () => {
      const skips = control.skips(req);
      return typeof skips === 'boolean'
        ? decide(this, req, res, skips)
        : skips.then((late) => decide(this, req, res, late));
    });
  }

  return Object.assign(guarded, { intake: control.intake });
}

/**
 * Node emits `checkContinue`, and not `request`, for a sender that asks first, if anybody listens to it. If that is
 * not our listener but the caller's own, it has told the sender to go on before it passed the request here.
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
 * Makes what runs an action and answers its failure with 500. Without a framework there is no error path, so each
 * listener warns its operator, and counts its failures separately.
 */
export function answeringFailures(): (
  req: IncomingMessage,
  res: ServerResponse,
  action: () => unknown,
) => void {
  const failures = processWarnings('WBP_LISTENER_FAILED');
  const fail = (req: IncomingMessage, res: ServerResponse, error: unknown): void => {
    if (!res.headersSent) res.writeHead(500, { 'Content-Length': 0 }).end();
    // Half an answer is cut off, so that nobody takes it for a whole one; a whole one is left to arrive.
    else if (!res.writableEnded) res.destroy();
    failures.note(`${req.method ?? ''} was answered with 500`, error);
  };
  return (req, res, action) => {
    try {
      const result = action();
      if (!(result instanceof Promise)) return;
      result.catch((error: unknown) => {
        fail(req, res, error);
      });
    } catch (error) {
      fail(req, res, error);
    }
  };
}

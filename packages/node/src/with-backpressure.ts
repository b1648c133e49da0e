import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { BackpressureError, thrownText } from '@webhook-backpressure/base';
import { createAdmissionControl, type Skip } from '@webhook-backpressure/core/middleware';
import type { BackpressureInfo, Intake, MiddlewareOptions } from '@webhook-backpressure/core';
import { RequestAdmission, type Verdict } from './request/request-admission.ts';
import { nodeReader, setHeaders } from './request/messages.ts';
import { boundBody, writeRefusal } from './request/refuse.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** What `withBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure?: BackpressureInfo;
  }
}

/** Any function that answers requests: your own, an Express app, or `app.callback()` of Koa. */
export type RequestListener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** The options of {@link withBackpressure}. `onRefused` receives the refusal, the request and the response. */
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
  const { onRefused: handler } = options;
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
    const fields = control.fields(verdict);
    if (handler === undefined) {
      writeRefusal(req, res, verdict, { fields, awaitsContinue: isCheckContinue(self, req, guarded) });
      return undefined;
    }
    boundBody(req, res);
    setHeaders(res, fields);
    return handler(verdict, req, res);
  };

  const decide = (self: unknown, req: IncomingMessage, res: ServerResponse, skips: Skip): unknown => {
    if (typeof skips === 'object') {
      writeRefusal(req, res, skips);
      return undefined;
    }
    const askForBody = isCheckContinue(self, req, guarded) ? askOnce(res) : undefined;
    if (skips) {
      askForBody?.();
      return listener.call(self, req, res);
    }
    const verdict = admission.admit(req, req, res, askForBody);
    return verdict instanceof Promise
      ? verdict.then((settled) => settle(self, req, res, settled))
      : settle(self, req, res, verdict);
  };

  const guarded = answeringFailures((self, req, res) => {
    const skips = control.skips(req);
    return skips instanceof Promise
      ? skips.then((skipped) => decide(self, req, res, skipped))
      : decide(self, req, res, skips);
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
  const failures = new FailureWarnings();
  const fail = (req: IncomingMessage, res: ServerResponse, error: unknown): void => {
    if (!res.headersSent) res.writeHead(500, { 'Content-Length': 0 }).end();
    // A part of an answer is cut off, so that it is not taken for the whole; a complete one is left to arrive.
    else if (!res.writableEnded) res.destroy();
    failures.note(`${req.method ?? ''} was answered with 500`, error);
  };
  return function (this: unknown, req, res) {
    try {
      const result = listen(this, req, res);
      if (!(result instanceof Promise)) return;
      result.catch((error: unknown) => {
        fail(req, res, error);
      });
    } catch (error) {
      fail(req, res, error);
    }
  };
}

/** How often repeated failures are reported. */
const REPORT_MS = 60_000;
/** Further kinds share one count: a sender that can influence an error must not grow this table. */
const MAX_KINDS = 20;
const OTHERS = 'others';

/**
 * Warns of failures. The first failure of each kind is shown in full; later ones are counted and reported at most once a
 * minute. A sender can cause failures at any rate, by aborting uploads, and must not flood the log.
 */
export class FailureWarnings {
  /** Unreported failures by kind. */
  readonly #unreported = new Map<string, number>();
  // A timer retains the async context in which it was set, and everything that a request stored there.
  readonly #reportLater = AsyncResource.bind(() => {
    setTimeout(this.#report, REPORT_MS).unref();
  });
  #isReportDue = false;

  /** @param what - what failed, for the first warning of a kind. The kind depends on the error only. */
  note(what: string, error: unknown): void {
    const name = kindOf(error);
    const isKept = this.#unreported.has(name) || this.#unreported.size < MAX_KINDS;
    const kind = isKept ? name : OTHERS;
    const count = this.#unreported.get(kind);
    if (count === undefined) {
      this.#unreported.set(kind, 0);
      warn(`${what}: ${thrownText(error)}`, stackOf(error));
      return;
    }
    this.#unreported.set(kind, count + 1);
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    this.#reportLater();
  }

  readonly #report = (): void => {
    this.#isReportDue = false;
    const lines: string[] = [];
    for (const [kind, count] of this.#unreported) {
      if (count === 0) continue;
      lines.push(`${String(count)} more ${kind}`);
      this.#unreported.set(kind, 0);
    }
    warn(`Failures since the last report: ${lines.join(', ')}`);
  };
}

function warn(message: string, detail?: string): void {
  const type = 'WebhookBackpressureWarning';
  const code = 'WBP_LISTENER_FAILED';
  process.emitWarning(message, detail === undefined ? { type, code } : { type, code, detail });
}

/** The code or the class of an error. Its message may contain request data and differ each time. */
function kindOf(error: unknown): string {
  try {
    const { code, name } = error as { code?: unknown; name?: unknown };
    if (typeof code === 'string') return code;
    return typeof name === 'string' ? name : typeof error;
  } catch {
    return typeof error;
  }
}

function stackOf(error: unknown): string | undefined {
  try {
    const stack = error instanceof Error ? (error.stack as unknown) : undefined;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}

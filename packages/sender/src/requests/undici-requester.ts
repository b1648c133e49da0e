import { Agent, type Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { AnswerBody, answerOf } from './answer-parts.ts';
import { failureOf, timeoutFailure } from './failures.ts';
import { guardedConnector, resolveBySystem, type Resolve } from './guarded-connector.ts';
import type { Answer, OutgoingRequest, Requester, RequestFailure } from './request.ts';

/** Options of {@link undiciRequester}. */
export interface UndiciRequesterOptions {
  readonly allowPrivateAddresses: boolean;
  /** Resolves names. Default: as the system does. */
  readonly resolve?: Resolve | undefined;
  /** Replaces the rule about addresses. */
  readonly isAllowed?: ((address: string) => boolean) | undefined;
  /** How long an idle connection is kept, unless its server names a shorter time. Default 4,000. */
  readonly keepAliveMs?: number | undefined;
}

// An attempt ends at its signal. A connection that opens later is of use for the next attempt.
const CONNECT_TIMEOUT_MS = 10_000;
// Idle connections take a socket each, and 100,000 endpoints must not keep them all.
const KEEP_ALIVE_MS = 4000;
const MOST_KEEP_ALIVE_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;

/** Makes requests with undici: connections are kept for a few seconds, redirects are not followed. */
export function undiciRequester(options: UndiciRequesterOptions): Requester {
  const { allowPrivateAddresses, resolve = resolveBySystem, keepAliveMs = KEEP_ALIVE_MS } = options;
  const { isAllowed = allowPrivateAddresses ? anyAddress : isPublicAddress } = options;
  const agent = new Agent({
    connect: guardedConnector(resolve, isAllowed, CONNECT_TIMEOUT_MS),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: MOST_KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal ends an attempt, so undici needs no timers for it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: (request) =>
      new Promise<Answer>((resolved, reject) => {
        new Attempt(request, resolved, reject).start(agent);
      }),
    close: () => agent.destroy(),
  };
}

function anyAddress(): boolean {
  return true;
}

/** One request, from its start to its answer. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #request: OutgoingRequest;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (failure: RequestFailure) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  readonly #body = new AnswerBody();
  #isOver = false;

  constructor(
    request: OutgoingRequest,
    resolve: (answer: Answer) => void,
    reject: (failure: RequestFailure) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(agent: Agent): void {
    const { url, headers, body, signal } = this.#request;
    if (signal.aborted) {
      this.#reject(timeoutFailure());
      return;
    }
    signal.addEventListener('abort', this.#abort);
    const path = url.pathname + url.search;
    agent.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, this);
  }

  /** Not called before the connection is open. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(timeoutFailure());
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // 1xx comes before the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver || this.#body.add(chunk)) return;
    this.#answer();
    // To read the rest would cost more than a new connection.
    controller.abort(new Error('The answer is too long.'));
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // The status is known, and decides about the event, whether the body arrives or not.
    if (this.#status > 0) this.#answer();
    else this.#fail(failureOf(error));
  }

  readonly #abort = (): void => {
    if (this.#status > 0) this.#answer();
    else this.#fail(timeoutFailure());
    this.#controller?.abort(timeoutFailure());
  };

  #answer(): void {
    if (this.#end()) this.#resolve(answerOf(this.#status, this.#headers, this.#body));
  }

  #fail(failure: RequestFailure): void {
    if (this.#end()) this.#reject(failure);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#request.signal.removeEventListener('abort', this.#abort);
    return true;
  }
}

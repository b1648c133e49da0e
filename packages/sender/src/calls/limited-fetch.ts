import {
  by,
  checkClock,
  checkFunction,
  type Clock,
  type Complete,
  DAY_MS,
  milliseconds,
  resolve,
  type Rows,
  showWarning,
  systemClock,
} from '@webhook-backpressure/base';
import { type Buckets, checkBuckets, LocalBuckets } from '@webhook-backpressure/fleet';
import { judge, type Judgment } from '../answers/judge.ts';
import { type ApiLimits, limitFinder, type LimitFinder } from './api-limits.ts';
import type { CallLine, StartedCall } from './call-line.ts';
import { CallLines } from './call-lines.ts';
import { RepeatableRequest } from './repeatable-request.ts';

/** Options of {@link limitedFetch}. */
export interface LimitedFetchOptions {
  /** The limits by the beginning of the URL, or a function. A URL without a limit is fetched immediately. */
  limits: ApiLimits;
  /**
   * Where tokens are kept: `redisBuckets(client)` of `@webhook-backpressure/redis` shares the limits with other processes.
   * Not those of a sender. Default: in this process.
   */
  buckets?: Buckets | undefined;
  /**
   * How long after the call the request may start, in milliseconds, from 0 to 86,400,000. A call that cannot start in this
   * time rejects with a `RetryAfter`, as soon as that is known. Default 5,000.
   */
  maxWaitMs?: number | undefined;
  /** Makes the requests. Default: `globalThis.fetch` at the time of the call. */
  fetch?: typeof globalThis.fetch | undefined;
  /** The clock. Default: the clock of the system. */
  clock?: Clock | undefined;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  random?: (() => number) | undefined;
}

type Settings = Omit<Complete<LimitedFetchOptions>, 'limits' | 'buckets' | 'fetch'> & {
  readonly limits: LimitFinder;
  readonly buckets: Buckets | undefined;
  readonly fetch: typeof globalThis.fetch | undefined;
};

const ROWS: Rows<Settings, LimitedFetchOptions> = {
  limits: { read: limitFinder },
  buckets: { default: undefined, check: checkBuckets },
  maxWaitMs: { default: 5000, check: milliseconds('ERR_WBP_MAX_WAIT', 0, DAY_MS) },
  fetch: { default: undefined, check: by(checkFunction, 'ERR_WBP_FETCH') },
  clock: { default: systemClock, check: checkClock },
  random: { default: () => Math.random(), check: by(checkFunction, 'ERR_WBP_RANDOM') },
};

/**
 * Creates a `fetch` that keeps the limits of APIs, for a handler that calls one.
 *
 * Each call takes a token of its bucket, in the order of the calls, and a place in flight. The answers set the pace: a 429
 * pauses the bucket and lowers its rate and its calls in flight, successes raise both, and the headers `RateLimit` and
 * `X-RateLimit-*` pause or slow it before the API refuses. Calls that were refused by 429 are made again, whatever their
 * method: the API has not processed them. All other answers are returned as they are.
 *
 * @param options - see {@link LimitedFetchOptions}.
 * @returns A function with the signature of `fetch`. It rejects like `fetch`, and with a `RetryAfter` if the call cannot start
 * within `maxWaitMs`, or was refused and its body was a stream. Thrown on by `process`, that delays the delivery.
 * @throws BackpressureError with the code of the first invalid option.
 *
 * @example
 * ```ts
 * const fetch = limitedFetch({ limits: { 'https://api.stripe.com/': { perSecond: 100 } } })
 * webhookInbox({ store, verify, process: async ({ json }) => { await fetch('https://api.stripe.com/v1/charges') } })
 * ```
 */
export function limitedFetch(options: LimitedFetchOptions): typeof globalThis.fetch {
  const settings = resolve<Settings>(ROWS, options);
  const { limits, buckets = new LocalBuckets(), maxWaitMs, fetch: given, clock, random } = settings;
  buckets.open?.({ clock, random, listener: report });
  const lines = new CallLines({ buckets, maxWaitMs, clock, random });
  let order = 0;

  return async (input, init) => {
    const fetch = given ?? globalThis.fetch;
    const request = new RepeatableRequest(input, init);
    const limit = request.url === null ? undefined : limits(request.url);
    if (limit === undefined) return fetch(input, init);
    request.signal?.throwIfAborted();
    const line = lines.join(limit);
    const call = { order: (order += 1), untilMs: lines.now() + maxWaitMs };
    try {
      return await repeated(line, request, call, fetch);
    } finally {
      request.end();
      lines.leave(line);
    }
  };
}

async function repeated(
  line: CallLine,
  request: RepeatableRequest,
  { order, untilMs }: { readonly order: number; readonly untilMs: number },
  fetch: typeof globalThis.fetch,
): Promise<Response> {
  for (;;) {
    const started = await line.enter(order, untilMs, request.signal);
    if (request.signal?.aborted === true) {
      line.unused(started);
      request.signal.throwIfAborted();
    }
    const response = await answerOf(line, started, () => fetch(request.take(), request.init));
    const judgment = judgmentOf(response);
    line.answered(started, judgment);
    if (!isRefusal(response, judgment)) return response;
    // Its connection is free for the next call.
    response.body?.cancel().catch(() => undefined);
    if (!request.isRepeatable) throw line.refusal();
  }
}

async function answerOf(
  line: CallLine,
  started: StartedCall,
  send: () => Promise<Response>,
): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    line.failed(started);
    throw error;
  }
}

const NO_BODY = new Uint8Array();

function judgmentOf({ status, headers }: Response): Judgment {
  // A function of a test may return less than a Response.
  const fields = headers as Headers | undefined;
  const header = (name: string): string | undefined => fields?.get(name) ?? undefined;
  const options = { nowMs: Date.now(), maxWaitMs: DAY_MS, isBatch: false };
  const judgment = judge({ status, header, body: NO_BODY }, options);
  // GitHub refuses with 403 as well.
  const isLimited = header('retry-after') !== undefined || judgment.hints?.remaining === 0;
  return status === 403 && isLimited ? judge({ status: 429, header, body: NO_BODY }, options) : judgment;
}

/** A 503 may have been processed in part, and is for the caller to decide. */
function isRefusal({ status }: Response, { outcome }: Judgment): boolean {
  return (status === 429 || status === 403) && outcome.kind === 'limited';
}

function report(event: Parameters<Parameters<NonNullable<Buckets['open']>>[0]['listener']>[0]): void {
  if (event.type !== 'lost') return;
  showWarning(
    'WBP_CALL_BUCKETS_LOST',
    `The shared buckets of limitedFetch do not answer (${event.error}). Until they do, this process uses its part of the ` +
      `limits: one of ${String(event.processes)}.`,
  );
}

import { type Clock, isRecord, unlessAborted } from '@webhook-backpressure/base';
import { limitedFetch } from '@webhook-backpressure/sender/fetch';
import { apiError } from './api.ts';

type Fetch = typeof globalThis.fetch;

/** Below the lowest limit of the APIs here: Stripe's sandbox takes 25 a second, GitHub 15 (900 points a minute). */
const PER_SECOND = 10;
/** GitHub's longest pause is the rest of an hour. */
const MAX_WAIT_MS = 7_200_000;
/** Of one answer. A page of 100 events of Stripe takes 1 MB, and GitHub's payloads 25 MB at most. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of one run: ten million deliveries of GitHub. A list that has more does not end. */
const MAX_REQUESTS = 100_000;

/** GitHub and Stripe fail now and then, and a first run makes thousands of requests. */
const REPEATS_AFTER_MS = [1000, 5000];

interface FetchOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly fetch: Fetch | undefined;
  /** Rejects when the reconciler closes. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The `fetch` of all runs, which counts the requests of each. */
export class RunFetch {
  /** Of this run. */
  requests = 0;
  /** The time of the first answer of this run, by the clock of the API. */
  dateMs: number | undefined;
  readonly #clock: Clock;
  readonly #given: Fetch | undefined;
  readonly #sleep: FetchOptions['sleep'];
  readonly #limited: Fetch;

  constructor({ clock, random, fetch, sleep }: FetchOptions) {
    this.#clock = clock;
    this.#given = fetch;
    this.#sleep = sleep;
    const limits = (url: URL) => ({ name: url.origin, perSecond: PER_SECOND });
    this.#limited = limitedFetch({ limits, maxWaitMs: MAX_WAIT_MS, fetch: this.#whole, clock, random });
  }

  /** A run begins. */
  begin(): void {
    this.requests = 0;
    this.dateMs = undefined;
  }

  /** Repeats a GET that was answered by 5xx, or not at all. */
  readonly fetch: Fetch = async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    const waitsMs = method.toUpperCase() === 'GET' ? REPEATS_AFTER_MS : [];
    for (let at = 0; ; at += 1) {
      const waitMs = waitsMs[at];
      try {
        const answer = await this.#limited(input, init);
        if (answer.status < 500 || waitMs === undefined) return answer;
      } catch (error) {
        // `fetch` rejects with it if there is no answer.
        if (!(error instanceof TypeError)) throw error;
        if (waitMs === undefined) throw withReason(error, input);
      }
      await this.#sleep(waitMs);
    }
  };

  /** Reads the answer to its end, so that one time limit applies to all of it. */
  readonly #whole: Fetch = async (input, init) => {
    if (this.requests >= MAX_REQUESTS) throw apiError('A run makes at most 100,000 requests.');
    this.requests += 1;
    const fetch = this.#given ?? globalThis.fetch;
    const end = new AbortController();
    const timer = this.#clock.setTimeout(() => {
      end.abort(apiError('The API did not answer within 30 s.'));
    }, TIMEOUT_MS);
    const outer = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const signal = outer ? AbortSignal.any([outer, end.signal]) : end.signal;
    try {
      return await unlessAborted(signal, this.#read(fetch(input, { ...init, signal })));
    } finally {
      this.#clock.clearTimeout(timer);
    }
  };

  async #read(answer: Promise<Response>): Promise<Response> {
    const response = await answer;
    const { status, statusText, headers } = response;
    const dateMs = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(dateMs)) this.dateMs ??= dateMs;
    const body = await wholeBody(response);
    return new Response(hasBody(status) ? body : null, { status, statusText, headers });
  }
}

/** `fetch failed` alone says nothing to an operator. The path is left out: it may have a token. */
function withReason(error: TypeError, input: Parameters<Fetch>[0]): Error {
  const code = isRecord(error.cause) ? error.cause['code'] : undefined;
  if (typeof code !== 'string') return error;
  const { origin } = new URL(input instanceof Request ? input.url : input);
  return apiError(`${origin} did not answer (${code}).`);
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

async function wholeBody({ body }: Response): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>> | null)?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.byteLength;
    chunks.push(part.value);
    if (size <= MAX_BYTES) continue;
    reader?.cancel().catch(() => undefined);
    throw apiError('The API answered with more than 64 MiB.');
  }
  return new Blob(chunks);
}

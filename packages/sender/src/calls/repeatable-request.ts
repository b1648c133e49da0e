import { parseUrl } from '@webhook-backpressure/base';

type Input = Parameters<typeof globalThis.fetch>[0];

/** The arguments of a call, which may be needed more than once. */
export class RepeatableRequest {
  readonly init: RequestInit | undefined;
  readonly signal: AbortSignal | null | undefined;
  /** Null if the URL is invalid: then `fetch` rejects. */
  readonly url: URL | null;
  /** Whether it can be made again after the last {@link take}. */
  isRepeatable: boolean;
  #input: Input;
  #spare: Request | undefined;

  constructor(input: Input, init: RequestInit | undefined) {
    const isRequest = input instanceof Request;
    // The caller may change both while the call waits.
    this.init = init && { ...init };
    this.#input = isRequest ? input : input.toString();
    const url = isRequest ? input.url : input.toString();
    this.url = parseUrl(url) ?? null;
    this.signal = init?.signal === undefined && isRequest ? input.signal : init?.signal;
    this.isRepeatable = isReusable(init?.body);
  }

  /** The first argument for the next attempt. */
  take(): Input {
    const input = this.#input;
    if (!(input instanceof Request) || input.body === null || (this.init?.body ?? null) !== null)
      return input;
    // Its body is a stream. A used one makes `fetch` reject.
    this.isRepeatable = !input.bodyUsed;
    if (this.isRepeatable) this.#input = this.#spare = input.clone();
    return input;
  }

  /** There is no further attempt: releases the copy of the body. */
  end(): void {
    if (this.#spare?.bodyUsed === false) this.#spare.body?.cancel().catch(() => undefined);
  }
}

/** Streams and iterables can be read once. */
function isReusable(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string') return true;
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return true;
  return body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob;
}

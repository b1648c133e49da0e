import { isPublicHost } from './addresses.ts';
import { AnswerBody, answerOf } from './answer-parts.ts';
import { failureOf, ForbiddenAddress, timeoutFailure } from './failures.ts';
import { RequestFailure, type Answer, type OutgoingRequest, type Requester } from './request.ts';

type Fetch = typeof globalThis.fetch;

/**
 * Makes requests with a function of the user, which is responsible for the addresses of names. It need not be well-behaved:
 * an attempt ends at its signal, whatever the function does.
 */
export function fetchRequester(
  fetch: Fetch,
  options: { readonly allowPrivateAddresses: boolean },
): Requester {
  return {
    send: async (request) => {
      if (!options.allowPrivateAddresses && !isPublicHost(request.url.hostname)) {
        throw failureOf(new ForbiddenAddress());
      }
      try {
        return await answered(fetch, request);
      } catch (thrown) {
        throw thrown instanceof RequestFailure ? thrown : failureOf(thrown);
      }
    },
    close: () => Promise.resolve(),
  };
}

async function answered(fetch: Fetch, { url, headers, body, signal }: OutgoingRequest): Promise<Answer> {
  const init = { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer>, signal };
  const response: unknown = await untilAborted(signal, async () =>
    fetch(url, { ...init, redirect: 'manual' }),
  );
  if (!isResponse(response))
    throw new RequestFailure('invalid', 'fetch returned something else than a Response.');
  if (response.type === 'opaqueredirect') throw new RequestFailure('invalid', 'Redirects are not followed.');
  const received = new AnswerBody();
  // The status decides about the event, whether the body arrives or not.
  await untilAborted(signal, () => read(response, received)).catch(() => undefined);
  return answerOf(response.status, Object.fromEntries(response.headers), received);
}

function isResponse(value: unknown): value is Response {
  const { status, headers } = (value ?? {}) as Partial<Response>;
  return Number.isInteger(status) && typeof headers?.[Symbol.iterator] === 'function';
}

async function read(response: Response, received: AnswerBody): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (!reader) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (!received.add(value)) {
      reader.cancel().catch(() => undefined);
      return;
    }
  }
}

/** Also if the function ignores its signal. */
function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(timeoutFailure());
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort);
    work()
      .finally(() => {
        signal.removeEventListener('abort', abort);
      })
      .then(resolve, reject);
  });
}

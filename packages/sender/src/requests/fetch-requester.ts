import { unlessAborted } from '@webhook-backpressure/base';
import { isPublicHost } from './addresses.ts';
import {
  AnswerBody,
  answerOf,
  failureOf,
  ForbiddenAddress,
  RequestFailure,
  timeoutFailure,
  type Requester,
} from './request.ts';

/**
 * Makes requests with a function of the user, which is responsible for the addresses of names. It need not be well-behaved:
 * an attempt ends at its signal, whatever the function does.
 */
export function fetchRequester(
  fetch: typeof globalThis.fetch,
  options: { readonly allowPrivateAddresses: boolean },
): Requester {
  return {
    send: async ({ method, url, headers, body, signal }) => {
      const received = new AnswerBody();
      let response: Response | undefined;
      const exchange = async (): Promise<void> => {
        signal.throwIfAborted();
        if (!options.allowPrivateAddresses && !isPublicHost(url.hostname)) throw new ForbiddenAddress();
        const init: RequestInit = { method, headers, signal, redirect: 'manual' };
        if (method === 'POST') init.body = body as Uint8Array<ArrayBuffer>;
        response = checked(await fetch(url, init));
        await read(response, received);
      };
      try {
        await unlessAborted(signal, exchange());
      } catch (thrown) {
        if (response === undefined) throw signal.aborted ? timeoutFailure() : failureOf(thrown);
      }
      // The status decides about the event, whether the body arrives or not.
      const { status, headers: fields } = response as Response;
      return answerOf(status, Object.fromEntries(fields), received);
    },
    close: () => Promise.resolve(),
  };
}

function checked(response: unknown): Response {
  const { status, headers, type } = (response ?? {}) as Partial<Response>;
  if (!Number.isInteger(status) || typeof headers?.[Symbol.iterator] !== 'function')
    throw new RequestFailure('invalid', 'fetch returned something else than a Response.');
  if (type === 'opaqueredirect') throw new RequestFailure('invalid', 'Redirects are not followed.');
  return response as Response;
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

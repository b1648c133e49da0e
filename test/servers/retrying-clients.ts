import axios from 'axios';
import axiosRetry, { exponentialDelay, isNetworkError, isRetryableError } from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, request, RetryAgent, type RetryHandler } from 'undici';

/** A delivery as its sender makes it, however often. */
export interface Delivery {
  readonly url: string;
  readonly id: string;
  readonly body: string;
}

/** An HTTP client that delivers webhooks and tries again by its own means. */
export interface RetryingClient {
  readonly name: string;
  /** Whether it waits for as long as Retry-After says, or goes by its own schedule. */
  readonly obeys: boolean;
  /** Answers with the status of the last attempt, or throws. */
  readonly deliver: (delivery: Delivery) => Promise<number>;
}

/** More than anybody needs here: none of them is to give up. */
export const MAX_RETRIES = 30;
const RETRIED = [429, 503];
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 2000;

/** What many senders do instead of reading Retry-After. `retry` counts from 1. */
function ownDelayMs(retry: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (retry - 1), MAX_DELAY_MS);
}

function headersOf({ id }: Delivery): Record<string, string> {
  return { 'Content-Type': 'application/json', 'Webhook-Id': id };
}

/**
 * By default RetryAgent does not repeat a POST, so the method is named. It retries 429 and 503 and obeys Retry-After by
 * itself. Its option `retryAfter: false` changes nothing in its default schedule, so whoever wants to ignore the field
 * has to pass a schedule of his own.
 */
function undiciClient(obeys: boolean): RetryingClient {
  const retry: RetryHandler.RetryCallback = (error, { state }, callback) => {
    if (state.counter > MAX_RETRIES) callback(error);
    else setTimeout(callback, ownDelayMs(state.counter), null);
  };
  const dispatcher = new RetryAgent(new Agent(), {
    methods: ['POST'],
    statusCodes: RETRIED,
    maxRetries: MAX_RETRIES,
    ...(obeys ? {} : { retry }),
  });
  return {
    name: 'undici RetryAgent',
    obeys,
    async deliver(delivery) {
      const { url, body } = delivery;
      const answer = await request(url, { dispatcher, method: 'POST', headers: headersOf(delivery), body });
      await answer.body.dump();
      return answer.statusCode;
    },
  };
}

/** By default got does not repeat a POST. `calculateDelay` has the last word; 0 means no retry. */
function gotClient(obeys: boolean): RetryingClient {
  const client = got.extend({
    retry: {
      limit: MAX_RETRIES,
      methods: ['POST'],
      statusCodes: RETRIED,
      calculateDelay: ({ computedValue, attemptCount }) =>
        obeys || computedValue === 0 ? computedValue : ownDelayMs(attemptCount),
    },
  });
  return {
    name: 'got',
    obeys,
    async deliver(delivery) {
      const { url, body } = delivery;
      return (await client.post(url, { headers: headersOf(delivery), body })).statusCode;
    },
  };
}

/**
 * By default ky does not repeat a POST, and gives up after 10 s, retries included. `afterStatusCodes` are those whose
 * Retry-After it reads.
 */
function kyClient(obeys: boolean): RetryingClient {
  const client = ky.extend({
    timeout: false,
    retry: {
      limit: MAX_RETRIES,
      methods: ['post'],
      statusCodes: RETRIED,
      afterStatusCodes: obeys ? RETRIED : [],
      delay: ownDelayMs,
    },
  });
  return {
    name: 'ky',
    obeys,
    async deliver(delivery) {
      const { url, body } = delivery;
      const answer = await client.post(url, { headers: headersOf(delivery), body });
      await answer.text();
      return answer.status;
    },
  };
}

/**
 * By default axios-retry repeats what is idempotent, so not a POST, and three times. Its delays are never shorter than
 * Retry-After; a function of one's own need not look at it.
 */
function axiosClient(obeys: boolean): RetryingClient {
  const client = axios.create();
  axiosRetry(client, {
    retries: MAX_RETRIES,
    retryCondition: (error) => isNetworkError(error) || isRetryableError(error),
    retryDelay: obeys ? (retry, error) => exponentialDelay(retry, error, 1) : ownDelayMs,
  });
  return {
    name: 'axios-retry',
    obeys,
    async deliver(delivery) {
      const { url, body } = delivery;
      return (await client.post(url, body, { headers: headersOf(delivery) })).status;
    },
  };
}

export const retryingClients: readonly RetryingClient[] = [true, false].flatMap((obeys) =>
  [undiciClient, gotClient, kyClient, axiosClient].map((create) => create(obeys)),
);

import axios from 'axios';
import axiosRetry, { exponentialDelay, isNetworkError, isRetryableError } from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, request, RetryAgent, type RetryHandler } from 'undici';

/** A delivery, the same for each attempt. */
export interface Delivery {
  readonly url: string;
  readonly id: string;
  readonly body: string;
}

/** An HTTP client that delivers webhooks with its own retries. */
export interface RetryingClient {
  readonly name: string;
  /** Whether it waits for Retry-After or follows its own schedule. */
  readonly obeys: boolean;
  /** Returns the status of the last attempt, or throws. */
  readonly deliver: (delivery: Delivery) => Promise<number>;
}

/** More than any client needs: none should give up. */
export const MAX_RETRIES = 30;
const RETRIED = [429, 503];
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 2000;

/** The backoff of many senders that ignore Retry-After. `retry` counts from 1. */
function ownDelayMs(retry: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (retry - 1), MAX_DELAY_MS);
}

function headersOf({ id }: Delivery): Record<string, string> {
  return { 'Content-Type': 'application/json', 'Webhook-Id': id };
}

/**
 * By default RetryAgent does not retry a POST, so the method is set. It retries 429 and 503 and honors Retry-After. Its
 * option `retryAfter: false` does not affect its default schedule, so ignoring the header requires a custom schedule.
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

/** By default got does not retry a POST. `calculateDelay` takes precedence; 0 means no retry. */
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
 * By default ky does not retry a POST, and gives up after 10 s, retries included. `afterStatusCodes` are the statuses
 * with which it honors Retry-After.
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
 * By default axios-retry retries idempotent requests, so not a POST, and three times. Its delays are never shorter than
 * Retry-After; a custom delay function may ignore it.
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

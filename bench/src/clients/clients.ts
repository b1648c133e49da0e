import axios from 'axios';
import axiosRetry, { isNetworkError, isRetryableError } from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, request, RetryAgent } from 'undici';
import type { ClientName } from './setup.ts';

/** Posts a delivery until it is delivered. Returns the status of the last answer, or throws. */
export type Deliver = (url: string, id: string) => Promise<number>;

/** Each of them tries again so often. */
const RETRIES = 10;
const REFUSED = [429, 503];

function headersOf(id: string): Record<string, string> {
  return { 'content-type': 'application/json', 'webhook-id': id };
}

function bodyOf(id: string): string {
  return JSON.stringify({ type: 'order.updated', data: { id } });
}

function undiciClient(): Deliver {
  const dispatcher = new RetryAgent(new Agent(), {
    methods: ['POST'],
    statusCodes: REFUSED,
    maxRetries: RETRIES,
  });
  return async (url, id) => {
    const options = { dispatcher, method: 'POST', headers: headersOf(id), body: bodyOf(id) } as const;
    const { statusCode, body } = await request(url, options);
    await body.dump();
    return statusCode;
  };
}

function gotClient(): Deliver {
  const client = got.extend({ retry: { limit: RETRIES, methods: ['POST'], statusCodes: REFUSED } });
  return async (url, id) => {
    const { statusCode } = await client.post(url, { headers: headersOf(id), body: bodyOf(id) });
    return statusCode;
  };
}

function kyClient(): Deliver {
  const client = ky.extend({
    timeout: false,
    retry: { limit: RETRIES, methods: ['post'], statusCodes: REFUSED, afterStatusCodes: REFUSED },
  });
  return async (url, id) => {
    const response = await client.post(url, { headers: headersOf(id), body: bodyOf(id) });
    await response.text();
    return response.status;
  };
}

function axiosClient(): Deliver {
  const client = axios.create();
  axiosRetry(client, {
    retries: RETRIES,
    retryCondition: (error) => isNetworkError(error) || isRetryableError(error),
  });
  return async (url, id) => (await client.post(url, bodyOf(id), { headers: headersOf(id) })).status;
}

export const clients: Readonly<Record<ClientName, () => Deliver>> = {
  'undici RetryAgent': undiciClient,
  got: gotClient,
  ky: kyClient,
  'axios-retry': axiosClient,
};

import { setTimeout as wait } from 'node:timers/promises';
import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';
import { redisBuckets } from '@webhook-backpressure/redis';
import { limitedFetch, type LimitedFetchOptions, RetryAfter } from '@webhook-backpressure/sender/fetch';
import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import pThrottle from 'p-throttle';
import { Agent, RetryAgent } from 'undici';
import { BURST, PER_SECOND, PROCESSES, type SideName } from './setup.ts';

export interface Places {
  readonly url: string;
  readonly redisPort: number;
  /** Names the keys of this turn. */
  readonly turn: string;
}

interface Caller {
  /** One call. Resolves with the status. */
  readonly call: (delayed: () => void) => Promise<number>;
  readonly ready?: Promise<unknown>;
  close?(): unknown;
}

/** A refusal, with its Retry-After. */
class Refused extends Error {
  readonly seconds: number;

  constructor(seconds: number) {
    super();
    this.seconds = seconds;
  }
}

/** Longer than any call waits. */
const PATIENT_MS = 60_000;

export const callers: Readonly<Record<SideName, (places: Places) => Caller>> = {
  'ours, shared by Redis': (places) => sharedOurs(places, true, PATIENT_MS),
  'ours, with RetryAfter': (places) => sharedOurs(places, true),
  'ours, the whole limit': (places) => sharedOurs(places, false, PATIENT_MS),
  'ours, a quarter each': ({ url }) => {
    const limits = { [url]: { perSecond: PER_SECOND / PROCESSES, burst: BURST / PROCESSES } };
    return ours(url, { limits, maxWaitMs: PATIENT_MS });
  },

  'bottleneck, shared by Redis': ({ url, redisPort, turn }) => {
    const limiter = new Bottleneck({
      id: turn,
      datastore: 'ioredis',
      clearDatastore: false,
      clientOptions: { host: '127.0.0.1', port: redisPort },
      Redis,
      minTime: 1000 / PER_SECOND,
    });
    limiter.on('failed', (error) => (error instanceof Refused ? error.seconds * 1000 : undefined));
    return {
      call: () => limiter.schedule(() => fetched(url)),
      ready: limiter.ready(),
      close: () => limiter.disconnect(),
    };
  },

  'p-throttle, a quarter each': ({ url }) => {
    const throttled = pThrottle({ limit: PER_SECOND / PROCESSES, interval: 1000 })(() => fetched(url));
    return {
      async call() {
        for (;;) {
          try {
            return await throttled();
          } catch (error) {
            if (!(error instanceof Refused)) throw error;
            await wait(error.seconds * 1000);
          }
        }
      },
    };
  },

  'RetryAgent of undici': ({ url }) => {
    const agent = new RetryAgent(new Agent(), { maxRetries: 100 });
    return {
      async call() {
        const { statusCode, body } = await agent.request({ origin: url, path: '/', method: 'GET' });
        await body.dump();
        return statusCode;
      },
      close: () => agent.close(),
    };
  },

  '@octokit/plugin-throttling': ({ url }) => {
    const throttle = { onRateLimit: () => true, onSecondaryRateLimit: () => true };
    const octokit = new (Octokit.plugin(throttling))({ baseUrl: url.slice(0, -1), throttle });
    octokit.log.warn = () => undefined;
    return { call: async () => (await octokit.request('GET /')).status };
  },
};

function sharedOurs({ url, redisPort, turn }: Places, documented: boolean, maxWaitMs?: number): Caller {
  const client = new Redis({
    host: '127.0.0.1',
    port: redisPort,
    enableOfflineQueue: false,
    lazyConnect: true,
  });
  const buckets = redisBuckets(client, { prefix: turn });
  const limits = { [url]: { perSecond: PER_SECOND, burst: BURST, documented } };
  const close = (): void => {
    buckets.close?.();
    client.disconnect();
  };
  return { ...ours(url, { limits, buckets, maxWaitMs }), ready: client.connect(), close };
}

/** As the deliveries of an inbox: a call that would wait for more than 5 s is made again after the seconds of `RetryAfter`. */
function ours(url: string, options: LimitedFetchOptions): Caller {
  const limited = limitedFetch(options);
  return {
    async call(delayed) {
      for (;;) {
        try {
          const response = await limited(url);
          await response.arrayBuffer();
          return response.status;
        } catch (error) {
          if (!(error instanceof RetryAfter)) throw error;
          delayed();
          await wait(error.seconds * 1000);
        }
      }
    },
  };
}

async function fetched(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (response.status === 429) throw new Refused(Number(response.headers.get('retry-after')));
  return response.status;
}

/** The limit of the API. */
export const PER_SECOND = 100;
export const BURST = 20;
/** The calls of all processes together, all made at the same moment. */
export const CALLS = 1000;
export const PROCESSES = 4;
/** How long the API takes for a call that it accepts. */
export const ANSWER_MS = 20;
/** The last call cannot be accepted before. */
export const IDEAL_S = (CALLS - BURST) / PER_SECOND;

export const SIDES = [
  'ours, shared by Redis',
  'ours, with RetryAfter',
  'ours, a quarter each',
  'ours, the whole limit',
  'bottleneck, shared by Redis',
  'p-throttle, a quarter each',
  'RetryAgent of undici',
  '@octokit/plugin-throttling',
] as const;

export type SideName = (typeof SIDES)[number];

/** How each is set, for the report. */
export const SETTINGS: Readonly<Record<SideName, string>> = {
  'ours, shared by Redis':
    '`limits: { [url]: { perSecond: 100, burst: 20 } }, buckets: redisBuckets(client), maxWaitMs: 60_000`: all calls wait in place, as those of the others do',
  'ours, with RetryAfter':
    'the same with the default of `maxWaitMs`: calls that would wait for more than 5 s are made later, as deliveries of an inbox do',
  'ours, a quarter each': '`limits: { [url]: { perSecond: 25, burst: 5 } }, maxWaitMs: 60_000`',
  'ours, the whole limit': 'the first, with `documented: false`: all of the limit instead of 80 %',
  'bottleneck, shared by Redis':
    '`{ minTime: 10, datastore: "ioredis" }`, and `on("failed")` returns the Retry-After, as in its README',
  'p-throttle, a quarter each':
    '`{ limit: 25, interval: 1000 }`; after a 429, Retry-After by hand, and again',
  'RetryAgent of undici': '`{ maxRetries: 100 }`: with the default of 5, calls are lost; it has no rate',
  '@octokit/plugin-throttling': '`onSecondaryRateLimit: () => true`; it limits calls in flight, to 10 each',
};

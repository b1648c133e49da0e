import { BackpressureError } from '@webhook-backpressure/core';
import { checkNames, invalid } from '@webhook-backpressure/core/parts';
import { bucketLimitOf, checkInFlight, type LimitDefaults } from './limits.ts';
import type { BatchOptions, Endpoint } from './sender-options.ts';
import type { BatchSettings, EndpointSettings } from './settings.ts';

/** The checks of what an endpoint is connected with: each throws, with a message without secrets. */
export interface EndpointChecks {
  /** The limits of endpoints that have none. */
  readonly defaults: LimitDefaults;
  /** Throws if no request may be sent there. */
  readonly checkUrl: (url: URL) => void;
  /** Throws if nothing can be signed with it. */
  readonly checkSecret: (secret: string) => void;
}

const NAMES = [
  ...['url', 'secret', 'rate', 'burst', 'maxInFlight', 'batch', 'ordered', 'documented'],
] as const satisfies readonly (keyof Endpoint)[];
const BATCH = { maxEvents: 100, maxDelayMs: 5000, maxBytes: 1_000_000 };
const MAX_URL = 4096;
const MAX_SECRETS = 10;

/**
 * What the function `endpoint` returned, complete and checked; null for no endpoint.
 *
 * @throws BackpressureError with the code of the first setting that is wrong, or what a getter of it throws.
 */
export function checkEndpoint(value: unknown, checks: EndpointChecks): EndpointSettings | null {
  if (value === null) return null;
  if (value === undefined)
    throw invalid('ERR_WBP_ENDPOINT', 'The result of endpoint()', 'an object or null', value);
  checkNames(value, 'the result of endpoint()', NAMES, 'ERR_WBP_ENDPOINT');
  // Read once: a getter might return something else the next time.
  const { url, secret, rate, burst, batch, ordered = false, documented = false, ...rest } = value as Endpoint;
  const { maxInFlight = checks.defaults.maxInFlight } = rest;
  if (typeof (ordered as unknown) !== 'boolean')
    throw invalid('ERR_WBP_ORDERED', 'ordered', 'a boolean', ordered);
  if (typeof (documented as unknown) !== 'boolean')
    throw invalid('ERR_WBP_RATE', 'documented', 'a boolean', documented);
  checkInFlight(maxInFlight);
  if (ordered && batch !== undefined) {
    throw new BackpressureError(
      'ERR_WBP_BATCH',
      'batch cannot be set together with ordered: an ordered endpoint gets one event at a time.',
    );
  }
  return {
    url: urlOf(url, checks),
    secrets: secretsOf(secret, checks),
    limit: bucketLimitOf({ rate, burst }, documented, checks.defaults),
    maxInFlight,
    batch: batch === undefined ? undefined : batchOf(batch),
    isOrdered: ordered,
  };
}

/** The message does not contain the URL: its path or query may hold a token. */
function urlOf(given: unknown, { checkUrl }: EndpointChecks): URL {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== 'string' || text.length > MAX_URL || !URL.canParse(text)) {
    throw new BackpressureError(
      'ERR_WBP_ENDPOINT_URL',
      `url must be an absolute URL of at most 4,096 characters, but was ${describe(text)}.`,
    );
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new BackpressureError('ERR_WBP_ENDPOINT_URL', 'url must not contain a user name or a password.');
  url.hash = '';
  checkUrl(url);
  return url;
}

function secretsOf(given: unknown, { checkSecret }: EndpointChecks): readonly string[] {
  if (given === null) return [];
  const list: unknown = typeof given === 'string' ? [given] : given;
  const isList = Array.isArray(list) && list.length >= 1 && list.length <= MAX_SECRETS;
  if (!isList || !list.every((secret) => typeof secret === 'string')) {
    throw new BackpressureError(
      'ERR_WBP_ENDPOINT_SECRET',
      'secret must be a string, a list of 1 to 10 strings, or null to send unsigned requests, ' +
        `but was ${given === undefined ? 'undefined' : describe(given)}.`,
    );
  }
  const secrets = [...list] as string[];
  for (const secret of secrets) checkSecret(secret);
  return secrets;
}

function batchOf(given: BatchOptions): BatchSettings {
  checkNames(given, 'batch', Object.keys(BATCH), 'ERR_WBP_BATCH');
  const { maxEvents = BATCH.maxEvents, maxDelayMs = BATCH.maxDelayMs, maxBytes = BATCH.maxBytes } = given;
  const limits: [string, unknown, number, number, string][] = [
    ['maxEvents', maxEvents, 1, 500, 'an integer from 1 to 500'],
    ['maxDelayMs', maxDelayMs, 0, 60_000, 'a number of milliseconds from 0 to 60,000'],
    ['maxBytes', maxBytes, 1, 1_000_000, 'an integer from 1 to 1,000,000'],
  ];
  for (const [name, value, min, max, rule] of limits) {
    const isNumber = name === 'maxDelayMs' ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (!isNumber || (value as number) < min || (value as number) > max)
      throw invalid('ERR_WBP_BATCH', `batch.${name}`, rule, value);
  }
  return { maxEvents, maxDelayMs, maxBytes };
}

/** The type of a value that may be a secret. */
function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > MAX_URL ? 'longer' : 'another string';
  if (Array.isArray(value)) return `an array of length ${String(value.length)}`;
  return value === null ? 'null' : `of type ${typeof value}`;
}

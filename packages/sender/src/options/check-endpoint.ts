import { BackpressureError, checkNames, invalid } from '@webhook-backpressure/base';
import { endpointUrl } from '../requests/addresses.ts';
import { checkSecret } from '../requests/signature.ts';
import { bucketLimitOf, checkInFlight, type LimitDefaults } from './limits.ts';
import type { BatchOptions, Endpoint } from './sender-options.ts';
import type { BatchSettings, EndpointSettings } from './settings.ts';

/** The rules by which the settings of an endpoint are checked. */
export interface EndpointRules {
  /** The limits of endpoints that have none. */
  readonly defaults: LimitDefaults;
  readonly allowPrivateAddresses: boolean;
}

const NAMES = [
  ...['url', 'secret', 'rate', 'burst', 'maxInFlight', 'batch', 'ordered', 'documented'],
] as const satisfies readonly (keyof Endpoint)[];
const BATCH = { maxEvents: 100, maxDelayMs: 5000, maxBytes: 1_000_000 };
const MAX_URL = 4096;
const MAX_SECRETS = 10;

/**
 * The result of the function `endpoint`, complete and checked; null for no endpoint.
 *
 * @throws BackpressureError with the code of the first setting that is wrong, or what a getter of it throws.
 */
export function checkEndpoint(value: unknown, rules: EndpointRules): EndpointSettings | null {
  if (value === null) return null;
  if (value === undefined)
    throw invalid('ERR_WBP_ENDPOINT', 'The result of endpoint()', 'an object or null', value);
  checkNames(value, 'the result of endpoint()', NAMES, 'ERR_WBP_ENDPOINT');
  // Read once: a getter might return something else the next time.
  const { url, secret, rate, burst, batch, ordered = false, documented = false, ...rest } = value as Endpoint;
  const { maxInFlight = rules.defaults.maxInFlight } = rest;
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
    url: urlOf(url, rules.allowPrivateAddresses),
    secrets: secretsOf(secret),
    limit: bucketLimitOf({ rate, burst }, documented, rules.defaults),
    maxInFlight,
    batch: batch === undefined ? undefined : batchOf(batch),
    isOrdered: ordered,
  };
}

/** The message does not contain the URL: its path or query may hold a token. */
function urlOf(given: unknown, allowPrivateAddresses: boolean): URL {
  const text = given instanceof URL ? given.href : given;
  const isLong = typeof text === 'string' && text.length > MAX_URL;
  const url = isLong ? 'have at most 4,096 characters' : endpointUrl(text, allowPrivateAddresses);
  if (typeof url === 'string') throw new BackpressureError('ERR_WBP_ENDPOINT_URL', `url must ${url}.`);
  return url;
}

/** The message does not contain the secret. */
function secretsOf(given: unknown): readonly string[] {
  if (given === null) return [];
  const secrets: unknown[] = Array.isArray(given) ? [...(given as unknown[])] : [given];
  if (secrets.length >= 1 && secrets.length <= MAX_SECRETS && secrets.every(checkSecret)) return secrets;
  throw new BackpressureError(
    'ERR_WBP_ENDPOINT_SECRET',
    'secret must be base64, with or without whsec_, or a list of 1 to 10 of those, or null to send unsigned requests, ' +
      `but was ${kindOf(given)}.`,
  );
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
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `an array of length ${String(value.length)}`;
  return typeof value === 'string' ? 'another string' : `of type ${typeof value}`;
}

import {
  BackpressureError,
  type BackpressureErrorCode,
  checkBoolean,
  checkNames,
  checkNumber,
  checkUpTo,
  invalid,
} from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import { endpointUrl } from '../requests/addresses.ts';
import { checkSecret } from '../requests/signatures.ts';
import { checkInFlight, endpointLimit, type EndpointLimits, type LimitDefaults } from './rates.ts';

/** When events of an endpoint are put into one request: whichever comes first. */
export interface BatchOptions {
  /** The most events of a request: an integer from 1 to 500. Default 100. */
  maxEvents?: number | undefined;
  /** How long an event waits for others, in milliseconds, from 0 to 60,000. Default 5,000. */
  maxDelayMs?: number | undefined;
  /** The most bytes of a request body, from 1 to 1,000,000. An event that is larger is sent alone. Default 1,000,000. */
  maxBytes?: number | undefined;
}

/** The settings of an endpoint, as the function `endpoint` returns them. */
export interface Endpoint extends EndpointLimits {
  /**
   * Where requests go: an absolute URL of https, or of http with `allowPrivateAddresses`, without credentials, of at most
   * 4,096 characters. A fragment is removed.
   */
  url: string | URL;
  /**
   * Secrets of Standard Webhooks (`whsec_…` or base64) of at least 24 bytes, or Ed25519 key pairs (`whsk_…`), the newest
   * first: each request is signed with all of them, so that the receiver can rotate. Receivers verify the signatures of key
   * pairs with {@link publicKeySet}. `null` sends requests without a signature.
   */
  secret: string | readonly string[] | null;
  /** Puts events into batches. Absent: one request for each event. Not together with `ordered`. */
  batch?: BatchOptions | undefined;
  /** Whether events are delivered strictly in the order of `send`, one at a time. Default false. */
  ordered?: boolean | undefined;
  /** Whether `rate` is the documented limit of the receiver: then 80 % of it is used. Default false. */
  documented?: boolean | undefined;
  /**
   * The DNS name of your service, 1 to 253 characters: asks the endpoint for permission before the first delivery, and
   * again each minute while it has events, with the handshake of CloudEvents. A lower rate that the endpoint allows
   * replaces `rate`. Without permission its events wait, and it is asked again after 1 s, doubling to 60 s, each time with
   * an event `endpoint-failed`. Default: deliveries without permission.
   */
  origin?: string | undefined;
}

/** Checked batch options. */
export interface BatchSettings {
  readonly maxEvents: number;
  readonly maxDelayMs: number;
  readonly maxBytes: number;
}

/** Checked settings of one endpoint. */
export interface EndpointSettings {
  /** Without credentials and fragment. */
  readonly url: URL;
  /** The newest first; empty: unsigned. */
  readonly secrets: readonly string[];
  /** After `documented`. */
  readonly limit: BucketLimit;
  readonly maxInFlight: number;
  readonly batch: BatchSettings | undefined;
  readonly isOrdered: boolean;
  readonly origin: string | undefined;
  /** What the endpoint has allowed; undefined before it is asked, and without `origin`. */
  readonly permission?: Permission | undefined;
}

/** The permission of an endpoint. */
export interface Permission {
  /** When it was asked for, on the monotonic clock. */
  readonly atMs: number;
  /** The rate that it allows, in requests per minute; Infinity for any. */
  readonly perMinute: number;
}

/** The rules by which the settings of an endpoint are checked. */
export interface EndpointRules {
  /** The limits of endpoints that have none. */
  readonly defaults: LimitDefaults;
  readonly allowPrivateAddresses: boolean;
}

const NAMES: readonly (keyof Endpoint)[] = [
  'url',
  'secret',
  'rate',
  'burst',
  'maxInFlight',
  'batch',
  'ordered',
  'documented',
  'origin',
];
const BATCH = { maxEvents: 100, maxDelayMs: 5000, maxBytes: 1_000_000 };
const MAX_URL = 4096;
const MAX_SECRETS = 10;
const ORIGIN = /^[\w.-]{1,253}$/;

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
  const {
    url,
    secret,
    rate,
    burst,
    maxInFlight = rules.defaults.maxInFlight,
    batch,
    ordered = false,
    documented = false,
    origin,
  } = value as Endpoint;
  checkBoolean('ERR_WBP_ORDERED', 'ordered', ordered);
  checkBoolean('ERR_WBP_RATE', 'documented', documented);
  checkInFlight(maxInFlight);
  if (origin !== undefined && !(typeof (origin as unknown) === 'string' && ORIGIN.test(origin)))
    throw invalid('ERR_WBP_ORIGINS', 'origin', 'a DNS name, such as "events.example.com"', origin);
  if (ordered && batch !== undefined) {
    throw new BackpressureError(
      'ERR_WBP_BATCH',
      'batch cannot be set together with ordered: an ordered endpoint gets one event at a time.',
    );
  }
  return {
    url: urlOf(url, rules.allowPrivateAddresses),
    secrets: secretsOf(secret),
    limit: endpointLimit(rate, burst, documented, rules.defaults),
    maxInFlight,
    batch: batch === undefined ? undefined : batchOf(batch),
    isOrdered: ordered,
    origin,
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
    'secret must be base64 of at least 24 bytes, with or without whsec_, or an Ed25519 key pair (whsk_), or a list of 1 to 10 of those, or null to send unsigned requests, ' +
      `but was ${kindOf(given)}.`,
  );
}

function batchOf(given: BatchOptions): BatchSettings {
  checkNames(given, 'batch', Object.keys(BATCH), 'ERR_WBP_BATCH');
  const { maxEvents = BATCH.maxEvents, maxDelayMs = BATCH.maxDelayMs, maxBytes = BATCH.maxBytes } = given;
  checkUpTo('ERR_WBP_BATCH', 'batch.maxEvents', maxEvents, 500);
  checkNumber('ERR_WBP_BATCH', 'batch.maxDelayMs', maxDelayMs, 0, 60_000, 'milliseconds');
  checkUpTo('ERR_WBP_BATCH', 'batch.maxBytes', maxBytes, 1_000_000);
  return { maxEvents, maxDelayMs, maxBytes };
}

/** The type of a value that may be a secret. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `an array of length ${String(value.length)}`;
  return typeof value === 'string' ? 'another string' : `of type ${typeof value}`;
}

/** Begins the names under which the store remembers disabled endpoints. An endpoint of such an id would be mistaken for one. */
export const DISABLED_PREFIX = 'wbp-disabled:';

const MAX_CHARACTERS = 256;

/** @throws BackpressureError with this code if the value cannot be the id of an endpoint. */
export function checkEndpointId(
  code: BackpressureErrorCode,
  field: string,
  id: unknown,
): asserts id is string {
  const isText = typeof id === 'string' && id.length >= 1 && id.length <= MAX_CHARACTERS;
  if (isText && !id.startsWith(DISABLED_PREFIX)) return;
  const rule = `a string of 1 to 256 characters that does not begin with "${DISABLED_PREFIX}"`;
  throw invalid(code, field, rule, id);
}

/** Whether two settings of an endpoint are the same, so that nothing has to be adjusted. */
export function areSame(one: EndpointSettings, other: EndpointSettings): boolean {
  return (
    one.url.href === other.url.href &&
    one.maxInFlight === other.maxInFlight &&
    one.isOrdered === other.isOrdered &&
    one.origin === other.origin &&
    one.permission === other.permission &&
    one.secrets.length === other.secrets.length &&
    one.secrets.every((secret, at) => secret === other.secrets[at]) &&
    one.limit.amount === other.limit.amount &&
    one.limit.periodMs === other.limit.periodMs &&
    one.limit.burst === other.limit.burst &&
    one.batch?.maxEvents === other.batch?.maxEvents &&
    one.batch?.maxDelayMs === other.batch?.maxDelayMs &&
    one.batch?.maxBytes === other.batch?.maxBytes
  );
}

import {
  BackpressureError,
  checkBoolean,
  checkNames,
  checkObject,
  checkUpTo,
  invalid,
  invalidResult,
  isThenable,
  parseUrl,
} from '@webhook-backpressure/base';
import { type BucketLimit, fractionOfRate } from '@webhook-backpressure/fleet';
import { checkInFlight, fourFifths } from '../options/rates.ts';
import { prefixName, UrlPrefixes } from './url-prefixes.ts';

/** The limit of an API: `perSecond` or `perMinute`, as its documentation states it. */
export interface ApiLimit {
  /** Calls per second: from 1 a day to 1,000,000 a second. */
  perSecond?: number | undefined;
  /** Calls per minute: from 1 a day to 1,000,000 a second. */
  perMinute?: number | undefined;
  /**
   * How many calls may start immediately after a quiet time: an integer from 1 to 1,000,000. Default a fifth of the calls of
   * the second or the minute, at least 1: together with four fifths of the rate, that is the limit.
   */
  burst?: number | undefined;
  /** How many calls may be in flight, until their headers arrive: an integer from 1 to 10,000. Default 100. */
  maxInFlight?: number | undefined;
  /**
   * Whether these are the documented limits of the API. Then 80 % of the rate and of `burst` are used, because other clients,
   * clocks and the network take a part. With false, all of it. Default true.
   */
  documented?: boolean | undefined;
}

/** The limit of the calls that share a bucket of this name. */
export interface NamedApiLimit extends ApiLimit {
  /** The bucket: from 1 to 256 characters. */
  name: string;
}

/**
 * The limits of a client: by the beginning of the URL, or by a function that returns the limit of a URL, or undefined if it
 * has none. Of several prefixes the longest applies. A prefix is an origin and whole segments of a path.
 */
export type ApiLimits = Readonly<Record<string, ApiLimit>> | ((url: URL) => NamedApiLimit | undefined);

/** A checked limit. */
export interface CallLimit {
  readonly limit: BucketLimit;
  readonly maxInFlight: number;
}

/** Finds the limit of a URL, which is not checked yet in the case of a function. */
export type LimitFinder = (url: URL) => NamedApiLimit | undefined;

const LIMIT_NAMES: readonly (keyof ApiLimit)[] = [
  'perSecond',
  'perMinute',
  'burst',
  'maxInFlight',
  'documented',
];
const MAX_IN_FLIGHT = 100;
const MAX_BURST = 1_000_000;
const MAX_NAME = 256;
/** The default burst is one of so many parts of the limit, and so is the part of a documented burst that is not used. */
const PARTS = 5;
const CODE = 'ERR_WBP_API_LIMITS';

/**
 * @throws BackpressureError `ERR_WBP_API_LIMITS`, `ERR_WBP_RATE`, `ERR_WBP_IN_FLIGHT` or `ERR_WBP_UNKNOWN_OPTION` for invalid
 * limits. What a function returns is checked when it does.
 */
export function limitFinder(limits: unknown): LimitFinder {
  if (typeof limits === 'function') return (url) => named((limits as LimitFinder)(url));
  checkObject(limits, 'limits', CODE);
  const prefixes = new UrlPrefixes<NamedApiLimit>();
  const entries = Object.entries(limits as Record<string, ApiLimit>);
  for (const [prefix, given] of entries) {
    const url = prefixOf(prefix);
    callLimit(given, `limits[${JSON.stringify(prefix)}]`);
    if (prefixes.add(url, { ...given, name: prefixName(url) })) continue;
    throw new BackpressureError(CODE, `limits has the prefix ${prefixName(url)} twice.`);
  }
  if (entries.length === 0)
    throw invalid(CODE, 'limits', 'a function, or an object with a URL prefix', limits);
  return (url) => prefixes.find(url);
}

/**
 * The limit in integers, after `documented`.
 *
 * @throws BackpressureError `ERR_WBP_API_LIMITS`, `ERR_WBP_RATE`, `ERR_WBP_IN_FLIGHT` or `ERR_WBP_UNKNOWN_OPTION`
 */
function callLimit(given: ApiLimit, path: string): CallLimit {
  checkNames(given, path, LIMIT_NAMES, CODE);
  const { perSecond, perMinute, burst, maxInFlight = MAX_IN_FLIGHT, documented = true } = given;
  const rate = fractionOfRate({ perSecond, perMinute }, path);
  if (burst !== undefined) checkUpTo('ERR_WBP_RATE', `${path}.burst`, burst, MAX_BURST);
  checkInFlight(maxInFlight, `${path}.maxInFlight`);
  checkBoolean(CODE, `${path}.documented`, documented);
  const unitMs = perSecond === undefined ? 60_000 : 1000;
  const rest = (rate.amount * unitMs) / rate.periodMs / PARTS;
  const saved = burst === undefined ? rest : documented ? lowered(burst) : burst;
  return { limit: { ...(documented ? fourFifths(rate) : rate), burst: whole(saved) }, maxInFlight };
}

function lowered(burst: number): number {
  return (burst * (PARTS - 1)) / PARTS;
}

function whole(burst: number): number {
  return Math.max(1, Math.min(MAX_BURST, Math.floor(burst)));
}

function named(result: NamedApiLimit | undefined): NamedApiLimit | undefined {
  if (result === undefined) return undefined;
  const rule = 'an object with a name of 1 to 256 characters and a limit, or undefined';
  if (typeof result !== 'object' || (result as unknown) === null || isThenable(result))
    throw invalidResult(CODE, 'limits', rule, result);
  const { name } = result;
  if (typeof name !== 'string' || name.length < 1 || name.length > MAX_NAME)
    throw invalidResult(CODE, 'limits', rule, result);
  return result;
}

/** The message does not contain the key: it may have credentials. */
function prefixOf(prefix: string): URL {
  const url = parseUrl(prefix);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url !== undefined && isHttp && url.username + url.password + url.search + url.hash === '') return url;
  throw new BackpressureError(
    CODE,
    'Each key of limits must be an absolute URL of https or http without credentials, query and fragment, such as ' +
      '"https://api.example.com/v1/".',
  );
}

/** @throws BackpressureError if the limit that a function returned is invalid. */
export function checked({ name, ...limit }: NamedApiLimit): CallLimit {
  return callLimit(limit, `The result of limits() for ${JSON.stringify(name)}`);
}

export function isSame(one: NamedApiLimit, other: NamedApiLimit): boolean {
  return LIMIT_NAMES.every((name) => one[name] === other[name]);
}

import type { SenderProfile } from '@webhook-backpressure/senders';
import { duration, grouped } from '../base/format.ts';
import {
  aNumber,
  DAY_MS,
  type Rule,
  mistake,
  oneOf,
  readAll,
  ScenarioError,
  type Fields,
} from '../scenario/fields.ts';
import { MAX_DELIVERIES } from '../scenario/scenario.ts';
import { isRecognized, profileNamed, ASSUMED_TIMEOUT_MS } from '../scenario/sender.ts';

/** What you know about your traffic and your receiver. */
export interface PlanRequest {
  /** Your senders. At least one. */
  readonly senders: readonly PlannedSender[];
  /** Deliveries per second on an ordinary day, from 0 to 1,000,000. Default 0. */
  readonly normalPerSecond?: number | undefined;
  /** The burst to survive, in addition to the ordinary traffic. Default none. */
  readonly burst?: Burst | undefined;
  /** How long a handler takes. */
  readonly service: ServiceTime;
  /**
   * How many deliveries all receivers together handle concurrently. Integer from 1 to 10,000, default 10. Not searched:
   * a resource of your handlers sets it, such as their database pool.
   */
  readonly concurrency?: number | undefined;
  /** Recommends only this mode. Default: `hold` if it loses nothing, otherwise the mode that loses less. */
  readonly mode?: Mode | undefined;
  /** The number of receiving processes. Integer from 1 to 64, default 1. */
  readonly receivers?: number | undefined;
  /** Sets the option `capacity`, of `hold` unless `mode` is `inbox`, so that it is not searched. Integer ≥ 1. */
  readonly capacity?: number | undefined;
  /** Sets the option `maxWaitMs` in the same way. From 1 to 86,400,000. */
  readonly maxWaitMs?: number | undefined;
  /**
   * How long senders wait for an answer whose own timeout is not known, in milliseconds, from 1 to 86,400,000. Default
   * 15,000.
   */
  readonly timeoutMs?: number | undefined;
  /** The same request with the same seed gives the same plan. Integer ≥ 0, default 1. */
  readonly seed?: number | undefined;
}

/** `hold` queues requests and answers when the handler has ended; `inbox` stores, answers, and handles later. */
export type Mode = 'hold' | 'inbox';

/** One kind of sender, and its part of the deliveries. */
export interface PlannedSender {
  /**
   * The name of a profile, such as `shopify`; `unknown` for a sender that is not recognized: it retries with exponential
   * backoff for a day, and ignores Retry-After; or a profile.
   */
  readonly profile: string | SenderProfile;
  /** Its share of the deliveries, relative to those of the others. Above 0, default 1. */
  readonly share?: number | undefined;
}

/** Many deliveries in a short time, evenly random. */
export interface Burst {
  /** The number of deliveries. Integer from 1 to 2,000,000. */
  readonly events: number;
  /** The time in which they arrive, in seconds. From 0.001 to 86,400. */
  readonly seconds: number;
}

/** How long a handler takes. */
export interface ServiceTime {
  /** The mean, in milliseconds. Above 0, at most 86,400,000. */
  readonly meanMs: number;
  /** `exponential`: most take less, few take several times as long. Default `exponential`. */
  readonly distribution?: 'constant' | 'exponential' | undefined;
}

type Limited =
  | ('share' | 'perSecond' | 'events' | 'seconds' | 'serviceMs' | 'waitMs')
  | ('concurrency' | 'receivers' | 'capacity' | 'seed');

/** The ranges of a request, in words and as checks. The command line has the same. */
export const LIMITS: Readonly<Record<Limited, Rule<number>>> = {
  share: aNumber('a number above 0', (value) => value > 0),
  perSecond: aNumber('a number from 0 to 1000000', (value) => value >= 0 && value <= 1_000_000),
  events: anInteger(1, 2_000_000),
  seconds: aNumber('a number of seconds from 0.001 to 86400', (s) => s >= 0.001 && s <= 86_400),
  serviceMs: aNumber('a number of milliseconds above 0, at most 86400000', (ms) => ms > 0 && ms <= DAY_MS),
  waitMs: aNumber('a number of milliseconds from 1 to 86400000', (ms) => ms >= 1 && ms <= DAY_MS),
  concurrency: anInteger(1, 10_000),
  receivers: anInteger(1, 64),
  capacity: anInteger(1, 1_000_000_000),
  seed: anInteger(0, Number.MAX_SAFE_INTEGER),
};

function anInteger(least: number, most: number): Rule<number> {
  const words = `an integer from ${String(least)} to ${String(most)}`;
  return aNumber(words, (value) => Number.isSafeInteger(value) && value >= least && value <= most);
}

/** A valid request, with all defaults. */
export interface Request {
  readonly senders: readonly RequestedSender[];
  readonly normalPerSecond: number;
  readonly burst: Burst | undefined;
  readonly service: { readonly meanMs: number; readonly distribution: 'constant' | 'exponential' };
  readonly concurrency: number;
  readonly mode: Mode | undefined;
  readonly receivers: number;
  readonly capacity: number | undefined;
  readonly maxWaitMs: number | undefined;
  readonly timeoutMs: number;
  readonly seed: number;
}

export interface RequestedSender {
  readonly name: string;
  /** Its part of all deliveries, from 0 to 1. */
  readonly share: number;
  readonly profile: SenderProfile;
  /** Whether the receiver knows the profile. */
  readonly isRecognized: boolean;
}

const DEFAULT_CONCURRENCY = 10;

/** @throws ScenarioError at the first mistake. */
function readRequest(value: PlanRequest): Request {
  const request = readAll('', value, readFields, 'a request');
  if (request.burst === undefined && request.normalPerSecond === 0) {
    throw new ScenarioError('normalPerSecond or burst must be given: without both, nothing arrives.');
  }
  return request;
}

function readFields(fields: Fields): Request {
  return {
    senders: withParts(fields.list('senders', 1, readSender)),
    normalPerSecond: fields.get('normalPerSecond', LIMITS.perSecond, 0),
    burst: fields.has('burst') ? fields.object('burst', readBurst) : undefined,
    service: fields.object('service', (service) => ({
      meanMs: service.get('meanMs', LIMITS.serviceMs),
      distribution: service.get('distribution', oneOf('constant', 'exponential'), 'exponential'),
    })),
    concurrency: fields.get('concurrency', LIMITS.concurrency, DEFAULT_CONCURRENCY),
    mode: fields.maybe('mode', oneOf('hold', 'inbox')),
    receivers: fields.get('receivers', LIMITS.receivers, 1),
    capacity: fields.maybe('capacity', LIMITS.capacity),
    maxWaitMs: fields.maybe('maxWaitMs', LIMITS.waitMs),
    timeoutMs: fields.get('timeoutMs', LIMITS.waitMs, ASSUMED_TIMEOUT_MS),
    seed: fields.get('seed', LIMITS.seed, 1),
  };
}

function readBurst(fields: Fields): Burst {
  return {
    events: fields.get('events', LIMITS.events),
    seconds: fields.get('seconds', LIMITS.seconds),
  };
}

function readSender(fields: Fields): RequestedSender {
  const given = fields.raw('profile');
  const share = fields.get('share', LIMITS.share, 1);
  const profile = typeof given === 'string' ? profileNamed(given) : given;
  if (!isProfile(profile))
    throw mistake(`${fields.path}.profile`, 'the name of a sender or a profile', given);
  return { name: profile.name, share, profile, isRecognized: isRecognized(profile) };
}

function isProfile(value: unknown): value is SenderProfile {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/** Shares as parts of 1. A name may appear once, since results are listed by name. */
function withParts(senders: readonly RequestedSender[]): RequestedSender[] {
  const names = new Set<string>();
  for (const { name } of senders) {
    if (names.has(name))
      throw new ScenarioError(`senders must have different names, but ${name} is repeated.`);
    names.add(name);
  }
  const sum = senders.reduce((total, { share }) => total + share, 0);
  return senders.map((sender) => ({ ...sender, share: sender.share / sum }));
}

/** Ordinary traffic before the burst, so that the intake has measured its drain rate. */
const BEFORE_S = 60;
/** Ordinary traffic continues for this many times as long as an unlimited queue would need for the burst. */
const AFTER_TIMES = 1.5;
const MIN_AFTER_S = 120;
const MAX_AFTER_S = 3600;
/** Ordinary traffic that alone is more than this part of the drain rate is an overload. */
const OVERLOAD = 0.95;

/** The interval [fromS, toS) in which deliveries arrive. */
interface Arrival {
  readonly fromS: number;
  readonly toS: number;
  readonly perSecond: number;
}

/**
 * Reads a request whose deliveries can be simulated.
 *
 * @throws ScenarioError at the first mistake.
 */
export function readArriving(value: PlanRequest): Request {
  const request = readRequest(value);
  const { normalPerSecond, burst } = request;
  const deliveries = Math.round(normalPerSecond * durationS(request) + (burst?.events ?? 0));
  if (deliveries > MAX_DELIVERIES) {
    throw new ScenarioError(
      `normalPerSecond and burst must give at most ${grouped(MAX_DELIVERIES)} deliveries in the simulated ` +
        `${duration(durationS(request))}, but give ${grouped(deliveries)}.`,
    );
  }
  return request;
}

/** Deliveries completed per second when all workers are busy. */
export function maxStartsOf({ service }: Request, concurrency: number): number {
  return (concurrency * 1000) / service.meanMs;
}

export function isOverloaded(request: Request): boolean {
  return request.normalPerSecond > OVERLOAD * maxStartsOf(request, request.concurrency);
}

/** When the burst begins, in seconds of the simulated time. */
export function burstStartS({ normalPerSecond }: Request): number {
  return normalPerSecond > 0 ? BEFORE_S : 0;
}

/** The interval [fromS, toS) in which the burst arrives; without a burst, all that arrives. */
export function burstInterval(request: Request): { readonly fromS: number; readonly toS: number } {
  const fromS = burstStartS(request);
  return request.burst === undefined
    ? { fromS: 0, toS: durationS(request) }
    : { fromS, toS: fromS + request.burst.seconds };
}

/** How long the arrivals are simulated. The senders' retries may continue after that. */
export function durationS(request: Request): number {
  const { normalPerSecond, burst } = request;
  const spareRate = maxStartsOf(request, request.concurrency) - normalPerSecond;
  const clearS = isOverloaded(request) ? MIN_AFTER_S : (burst?.events ?? 0) / spareRate;
  const afterS = Math.min(MAX_AFTER_S, Math.max(MIN_AFTER_S, AFTER_TIMES * clearS));
  return burstStartS(request) + (burst?.seconds ?? 0) + Math.ceil(afterS);
}

export function arrivalsOf(request: Request): Arrival[] {
  const { normalPerSecond, burst } = request;
  const arrivals: Arrival[] = [];
  if (normalPerSecond > 0) arrivals.push({ fromS: 0, toS: durationS(request), perSecond: normalPerSecond });
  if (burst !== undefined) {
    const fromS = burstStartS(request);
    arrivals.push({ fromS, toS: fromS + burst.seconds, perSecond: burst.events / burst.seconds });
  }
  return arrivals;
}

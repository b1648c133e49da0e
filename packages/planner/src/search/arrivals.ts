import { duration, grouped } from '../base/format.ts';
import type { PlanRequest } from '../request/plan-request.ts';
import { readRequest, type Request } from '../request/read-request.ts';
import { ScenarioError } from '../scenario/fields.ts';
import { MAX_DELIVERIES } from '../scenario/scenario.ts';

/** Ordinary traffic before the burst, so that the intake has measured its drain rate. */
const BEFORE_S = 60;
/** Ordinary traffic continues for this many times as long as an unlimited queue would need for the burst. */
const AFTER_TIMES = 1.5;
const LEAST_AFTER_S = 120;
const MOST_AFTER_S = 3600;
/** Ordinary traffic that alone is more than this part of the drain rate is an overload. */
const OVERLOAD = 0.95;

/** The interval [fromS, toS) in which deliveries arrive. */
export interface Arrival {
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
export function drainRateOf({ service }: Request, concurrency: number): number {
  return (concurrency * 1000) / service.meanMs;
}

export function isOverloaded(request: Request): boolean {
  return request.normalPerSecond > OVERLOAD * drainRateOf(request, request.concurrency);
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
  const spareRate = drainRateOf(request, request.concurrency) - normalPerSecond;
  const clearS = isOverloaded(request) ? LEAST_AFTER_S : (burst?.events ?? 0) / spareRate;
  const afterS = Math.min(MOST_AFTER_S, Math.max(LEAST_AFTER_S, AFTER_TIMES * clearS));
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

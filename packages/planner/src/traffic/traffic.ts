import { exponential, stream } from '../base/numbers.ts';
import type { Scenario, Arrivals } from '../scenario/scenario.ts';

/** The defaults of the intake. */
const DEFAULT_CONCURRENCY = 10;
const DEFAULT_CAPACITY = 1000;
const DEFAULT_MAX_WAIT_MS = 10_000;

/** The number of workers; if the intake adapts it, the maximum. */
export function workersOf({ intake }: Scenario): number {
  return upperEnd(intake.concurrency ?? DEFAULT_CONCURRENCY);
}

/** The limit on starts per second; Infinity without one. */
export function startsPerSecondOf({ intake }: Scenario): number {
  return upperEnd(intake.maxStartsPerSecond ?? Infinity);
}

function upperEnd(range: number | { readonly max: number }): number {
  return typeof range === 'number' ? range : range.max;
}

/** Completions per second when all workers are busy at full speed. */
function trueDrainRate(scenario: Scenario): number {
  return Math.min(startsPerSecondOf(scenario), (workersOf(scenario) / scenario.service.meanMs) * 1000);
}

/** The effective capacity: how many deliveries can be queued and handled in time at the true drain rate. */
export function placesOf(scenario: Scenario): number {
  const { capacity = DEFAULT_CAPACITY, maxWaitMs = DEFAULT_MAX_WAIT_MS } = scenario.intake;
  return Math.min(capacity, Math.floor((maxWaitMs / 1000) * trueDrainRate(scenario)));
}

const DEFAULT_MARKS = { high: 0.8, low: 0.5 };

/** A water mark in deliveries, for a queue with this many places. */
export function markOf({ intake }: Scenario, places: number, which: 'high' | 'low'): number {
  const fraction = which === 'high' ? intake.highWaterMark : intake.lowWaterMark;
  return (fraction ?? DEFAULT_MARKS[which]) * places;
}

/** All deliveries of a run, ordered by arrival and drawn before the run begins. The index identifies the delivery. */
export interface Traffic {
  readonly count: number;
  /** The time of the first attempt. */
  readonly firstMs: Float64Array;
  /** The service time at full speed, in this run and in the ideal run. */
  readonly serviceMs: Float64Array;
  /** The index into the scenario's senders. */
  readonly sender: Uint16Array;
}

export function drawTraffic({ seed, arrivals, service, senders }: Scenario): Traffic {
  const times = arrivals.map((one, index) => timesOf(one, seed, index));
  const firstMs = Float64Array.from(times.flat()).sort();
  const count = firstMs.length;

  const serviceMs = new Float64Array(count).fill(service.meanMs);
  if (service.distribution === 'exponential') {
    const random = stream(seed, 'service');
    for (let i = 0; i < count; i += 1) serviceMs[i] = exponential(service.meanMs, random);
  }

  const random = stream(seed, 'shares');
  const shares = senders.reduce((sum, { share }) => sum + share, 0);
  const sender = new Uint16Array(count);
  for (let i = 0; i < count; i += 1) {
    let left = random() * shares;
    let index = 0;
    while (index < senders.length - 1 && left >= (senders[index]?.share ?? 0)) {
      left -= senders[index]?.share ?? 0;
      index += 1;
    }
    sender[i] = index;
  }
  return { count, firstMs, serviceMs, sender };
}

function timesOf({ fromS, toS, perSecond, process }: Arrivals, seed: number, index: number): number[] {
  const times: number[] = [];
  if (process === 'uniform') {
    // Multiplied, so that rounding errors do not add up over a long run.
    for (let i = 0; ; i += 1) {
      const atMs = fromS * 1000 + (i * 1000) / perSecond;
      if (atMs >= toS * 1000) return times;
      times.push(atMs);
    }
  }
  const random = stream(seed, `arrivals ${String(index)}`);
  let atMs = fromS * 1000;
  for (;;) {
    atMs += exponential(1000 / perSecond, random);
    if (atMs >= toS * 1000) return times;
    times.push(atMs);
  }
}

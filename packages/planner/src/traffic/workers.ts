import type { Scenario } from '../scenario/scenario.ts';

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
  return upperEnd(intake.drainRate ?? Infinity);
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

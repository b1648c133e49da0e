import {
  drawTraffic,
  parseScenario,
  percentile,
  resultsOf,
  run,
  runIdeal,
} from '@webhook-backpressure/planner/parts';
import { SCENARIOS } from './scenarios.ts';

/** What users would feel of one run. Times are in seconds; null without a measurement. */
export interface Outcome {
  readonly events: number;
  readonly lost: number;
  /** How often a sender has disabled its endpoint. */
  readonly off: number;
  readonly attempts: number | null;
  readonly maxAttempts: number;
  /** Clearing time ÷ ideal clearing time. */
  readonly clear: number | null;
  readonly goodput: number | null;
  readonly inVain: number;
  readonly again: number;
  readonly p99: number | null;
  /** The p99 of the handling time. */
  readonly handling: number | null;
  /** Of small tenants: what they lost, and the p99 of the one with the longest. */
  readonly smallLost: number;
  readonly smallP99: number | null;
}

/** Most runs need less than a tenth of this. Without a rule, some would not end for hours. */
const MAX_ATTEMPTS = 30;

/** Runs a scenario with one seed. Null if it did not settle. */
export async function outcomeOf(name: string, seed: number): Promise<Outcome | null> {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no scenario ${name}.`);
  const { small = [], slower = {}, deliveries = {} } = found;
  const scenario = parseScenario({ ...found.scenario, seed });
  for (const [index, { delivery }] of scenario.senders.entries()) Object.assign(delivery, deliveries[index]);
  const traffic = drawTraffic(scenario);
  for (let i = 0; i < traffic.count; i += 1) {
    const key = scenario.senders[traffic.sender[i] as number]?.key ?? '';
    traffic.serviceMs[i] = (traffic.serviceMs[i] as number) * (slower[key] ?? 1);
  }
  const seen = await run(scenario, traffic, MAX_ATTEMPTS * traffic.count).catch((error: unknown) => {
    // The error of a run that takes too many attempts says how many deliveries were still open.
    if (error instanceof Error && 'open' in error) return null;
    throw error;
  });
  if (seen === null) return null;
  const results = resultsOf(scenario, traffic, seen, runIdeal(scenario, traffic, Infinity));
  const all = Object.values(results.perKey);
  const tenants = small.flatMap((key) => results.perKey[key] ?? []);
  const tookMs = seen.busyFromMs.map((fromMs, index) => (seen.busyToMs[index] as number) - fromMs);
  const { clearS, idealClearS } = results;
  return {
    events: results.events,
    lost: results.lost,
    off: sum(all.map(({ switchedOff }) => switchedOff)),
    attempts: results.attemptsPerEvent,
    maxAttempts: results.maxAttempts,
    clear: clearS === null || idealClearS === null ? null : rounded(clearS / idealClearS),
    goodput: results.goodput,
    inVain: sum(all.map(({ handledInVain }) => handledInVain)),
    again: sum(all.map(({ handledAgain }) => handledAgain)),
    p99: results.delayS.p99,
    handling: rounded(percentile(Float64Array.from(tookMs).sort(), 0.99) / 1000),
    smallLost: sum(tenants.map(({ lost }) => lost)),
    smallP99: tenants.length === 0 ? null : Math.max(...tenants.map(({ delayS }) => delayS.p99 ?? 0)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

import type { EndpointLimits } from '@webhook-backpressure/sender';
import {
  type Observations,
  type Scenario,
  type Traffic,
  drawTraffic,
  jain,
  parseScenario,
  resultsOf,
  run,
  runIdeal,
} from '@webhook-backpressure/planner/parts';
import { TwoHalvesRun } from './two-halves-run.ts';

/** A run of the report. */
export interface TwoHalvesRow {
  readonly name: string;
  readonly title: string;
  /** As a file in `scenarios/` has it. */
  readonly scenario: object;
  readonly limits: EndpointLimits;
  readonly hasKeys: boolean;
  /** How many seeds are run, from 1: a large run takes half a minute. */
  readonly seeds: number;
  /** Where Jain's index of the rates is measured: all senders have events waiting then. */
  readonly contestedS?: { readonly fromS: number; readonly toS: number };
}

/** What the receiver's answers say, or with `habit` the senders that only obey Retry-After. */
export const HALVES = ['habit', 'plain', 'headers'] as const;
export type Half = (typeof HALVES)[number];

export interface TwoHalvesFigures {
  readonly attempts: number | null;
  readonly mostAttempts: number;
  /** Clearing time ÷ ideal. */
  readonly clear: number | null;
  readonly goodput: number | null;
  readonly maxDepth: number;
  readonly p99DelayS: number | null;
  readonly jain: number | null;
}

const TEN_WORKERS = { capacity: 1000, concurrency: 10, retryAfter: { maxSeconds: 900 } };
/** Set far too high, so that only learning protects the receiver, which handles 100/s. */
const TOO_HIGH: EndpointLimits = { rate: { perSecond: 2000 }, burst: 2000, maxInFlight: 1000 };
const SHOP = [{ key: 'shop', retry: 'retry-after' }];
const SHARES = [1, 1, 2, 4, 8, 8, 16, 16];
const EIGHT = SHARES.map((share, index) => ({ key: `sender-${String(index)}`, share, retry: 'retry-after' }));

function b(perSecond: number): TwoHalvesRow {
  return {
    name: `b-${String(perSecond)}`,
    title: `B: 60/s for 15 minutes, ${String(perSecond)}/s in all from 60 to 90 s`,
    scenario: {
      intake: { ...TEN_WORKERS, capacity: 500 },
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: [
        { fromS: 0, toS: 900, perSecond: 60, process: 'poisson' },
        { fromS: 60, toS: 90, perSecond: perSecond - 60, process: 'poisson' },
      ],
      senders: SHOP,
    },
    limits: TOO_HIGH,
    hasKeys: false,
    seeds: 1,
  };
}

function eight(hasKeys: boolean): TwoHalvesRow {
  return {
    name: hasKeys ? 'eight' : 'eight-one-key',
    title: `Eight senders 1:1:2:4:8:8:16:16, 1,400/s in all for 30 s, ${hasKeys ? 'a key for each' : 'one key for all'}`,
    scenario: {
      intake: TEN_WORKERS,
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: [{ fromS: 0, toS: 30, perSecond: 1400, process: 'poisson' }],
      senders: EIGHT,
    },
    limits: TOO_HIGH,
    hasKeys,
    seeds: 3,
    // The smallest has 750 events, and at an eighth of 100/s enough for 60 s.
    contestedS: { fromS: 5, toS: 50 },
  };
}

export const TWO_HALVES_ROWS: readonly TwoHalvesRow[] = [
  {
    name: 'a',
    title: 'A: 50,000 events in 40 s, nothing after',
    scenario: {
      intake: TEN_WORKERS,
      service: { meanMs: 100 },
      arrivals: [{ fromS: 0, toS: 40, perSecond: 1250 }],
      senders: SHOP,
    },
    limits: TOO_HIGH,
    hasKeys: false,
    seeds: 1,
  },
  {
    name: 'a-warm',
    title: 'A after five minutes of 30/s, which continue',
    scenario: {
      intake: TEN_WORKERS,
      service: { meanMs: 100 },
      arrivals: [
        { fromS: 0, toS: 1000, perSecond: 30, process: 'poisson' },
        { fromS: 300, toS: 340, perSecond: 1250 },
      ],
      senders: SHOP,
    },
    limits: TOO_HIGH,
    hasKeys: false,
    seeds: 1,
  },
  {
    name: 'a-tenth',
    title: 'A tenth of A: 5,000 events in 4 s',
    scenario: {
      intake: TEN_WORKERS,
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: [{ fromS: 0, toS: 4, perSecond: 1250 }],
      senders: SHOP,
    },
    limits: TOO_HIGH,
    hasKeys: false,
    seeds: 3,
  },
  {
    name: 'small-queue',
    title: 'The same, with a queue of 20 instead of 1,000',
    scenario: {
      intake: { ...TEN_WORKERS, capacity: 20 },
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: [{ fromS: 0, toS: 4, perSecond: 1250 }],
      senders: SHOP,
    },
    limits: TOO_HIGH,
    hasKeys: false,
    seeds: 3,
  },
  b(200),
  b(500),
  b(1000),
  eight(true),
  eight(false),
];

/** Runs one row with one seed. */
export async function runTwoHalves(row: TwoHalvesRow, half: Half, seed: number): Promise<TwoHalvesFigures> {
  const scenario = parseScenario({ seed, ...row.scenario });
  const traffic = drawTraffic(scenario);
  const seen = await observe(row, half, scenario, traffic);
  const results = resultsOf(scenario, traffic, seen, runIdeal(scenario, traffic, Infinity));
  const { clearS, idealClearS } = results;
  return {
    attempts: results.attemptsPerEvent,
    mostAttempts: results.maxAttempts,
    clear: clearS === null || idealClearS === null ? null : Math.round((1e6 * clearS) / idealClearS) / 1e6,
    goodput: results.goodput,
    maxDepth: results.maxDepth,
    p99DelayS: results.delayS.p99,
    jain: row.contestedS === undefined ? null : jainOfRates(scenario, traffic, seen, row.contestedS),
  };
}

function observe(
  { limits, hasKeys }: TwoHalvesRow,
  half: Half,
  scenario: Scenario,
  traffic: Traffic,
): Promise<Observations> {
  if (half !== 'habit') {
    return new TwoHalvesRun(
      scenario,
      { limits, hasKeys, standardHeaders: half === 'headers' },
      traffic,
    ).settle();
  }
  if (hasKeys) return run(scenario, traffic, Infinity);
  const senders = scenario.senders.map((sender) => ({ ...sender, key: 'shop' }));
  return run({ ...scenario, senders }, traffic, Infinity);
}

function jainOfRates(
  { senders }: Scenario,
  { count, sender }: Traffic,
  { completedMs }: Observations,
  { fromS, toS }: { readonly fromS: number; readonly toS: number },
): number {
  const counts = senders.map(() => 0);
  for (let i = 0; i < count; i += 1) {
    const atMs = completedMs[i] as number;
    const index = sender[i] as number;
    if (atMs >= fromS * 1000 && atMs < toS * 1000) counts[index] = (counts[index] ?? 0) + 1;
  }
  return Math.round(1e6 * jain(counts)) / 1e6;
}

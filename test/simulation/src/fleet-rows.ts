import { type Balancing, simulate } from '@webhook-backpressure/planner/parts';
import type { ScenarioJson } from './comparisons.ts';

/** A run of several receivers in the report. */
export interface FleetRow {
  readonly name: string;
  /** Empty for the plain rows: nothing dies, joins or goes away. */
  readonly title: string;
  readonly receivers: number;
  readonly balancer: Balancing;
  readonly registry: boolean;
  /** The fields of `fleet` that make up its trouble. */
  readonly trouble: object;
}

/** The figures of one run. */
export interface FleetFigures {
  readonly attempts: number | null;
  readonly clear: number | null;
  readonly kept: number | null;
  readonly shares: number;
  readonly overS: number;
  /** The part of all refusals that the receiver with the most has made. */
  readonly most: number;
}

const RECEIVERS = [2, 4, 8, 16];
const BALANCERS: readonly Balancing[] = ['random', 'round-robin', 'least-connections'];

/** Before the burst, in its middle, and after it. */
const BURST_FROM_S = 120;
const BURST_TO_S = 160;

const TROUBLES = [
  {
    name: 'dies',
    title: 'one dies in the middle of the burst',
    trouble: { changes: [{ atS: 140, what: 'die' }] },
  },
  {
    name: 'joins',
    title: 'one joins in the middle of the burst',
    trouble: { changes: [{ atS: 140, what: 'join' }] },
  },
  {
    name: 'away',
    title: 'the registry is away for 60 s, from 10 s before the burst on',
    trouble: { registryAway: [{ fromS: 110, toS: 170 }] },
  },
  {
    name: 'lost',
    title: 'the registry is away for 60 s, from the middle of the burst on',
    trouble: { registryAway: [{ fromS: 140, toS: 200 }] },
  },
];

function plain(receivers: number, balancer: Balancing, registry: boolean): FleetRow {
  const name = `${balancer}-${String(receivers)}${registry ? '' : '-alone'}`;
  return { name, title: '', receivers, balancer, registry, trouble: {} };
}

export const FLEET_ROWS: readonly FleetRow[] = [
  ...BALANCERS.flatMap((balancer) =>
    RECEIVERS.flatMap((receivers) => [plain(receivers, balancer, false), plain(receivers, balancer, true)]),
  ),
  plain(4, 'hash', false),
  plain(4, 'hash', true),
  ...TROUBLES.flatMap(({ name, title, trouble }) =>
    (['random', 'least-connections'] as const).map((balancer) => {
      return { name: `${balancer}-4-${name}`, title, receivers: 4, balancer, registry: true, trouble };
    }),
  ),
];

/** A burst of five times the drain rate of 100/s, for 40 s; 30/s before and after. */
function fleetScenario({ receivers, balancer, registry, trouble }: FleetRow, seed: number): ScenarioJson {
  const burst = { fromS: BURST_FROM_S, toS: BURST_TO_S, perSecond: 470, process: 'poisson' };
  return {
    seed,
    intake: { capacity: 1000, concurrency: 64 },
    service: { meanMs: 640, distribution: 'exponential' },
    fleet: { receivers, balancer, registry, ...trouble },
    arrivals: [{ fromS: 0, toS: 400, perSecond: 30, process: 'poisson' }, burst],
    senders: [{ key: 'shop', retry: 'retry-after' }],
  };
}

/** Runs a row with one seed. */
export async function runFleetRow(row: FleetRow, seed: number): Promise<FleetFigures> {
  const { results } = await simulate(fleetScenario(row, seed));
  const { fleet, clearS, idealClearS, attemptsPerEvent } = results;
  const refused = fleet?.perReceiver.map((one) => one.refused) ?? [];
  const all = refused.reduce((sum, count) => sum + count, 0);
  return {
    attempts: attemptsPerEvent,
    clear:
      clearS === null || idealClearS === null
        ? null
        : rounded((clearS - BURST_FROM_S) / (idealClearS - BURST_FROM_S)),
    kept: fleet?.promisesKept ?? null,
    shares: fleet?.peakShares ?? 0,
    overS: rounded(fleet?.overS ?? 0),
    most: rounded(Math.max(...refused) / all),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

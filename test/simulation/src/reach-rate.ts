import type { ScenarioJson } from './comparisons.ts';
import {
  atMost,
  atLeast,
  mean,
  record,
  secondsUntil,
  type Probe,
  type Recording,
  type Subject,
} from './probe.ts';

const FLOOR = 20;
const CEILING = 200;
const DOWN = 0.75;
const UP = 0.05 * CEILING;
const SLOW_S = 40;
const HEALTHY_S = 120;
const END_S = 170;
/** More workers than the rate can keep busy, so that only the rate limits. */
const WORKERS = 2000;

/** How the downstream is slow from {@link SLOW_S} to {@link HEALTHY_S}. */
type Service = ScenarioJson;

async function recordRate(
  service: Service,
  seed: number,
): Promise<{ rates: Recording; starts: readonly number[] }> {
  const starts: number[] = [];
  const rates = await record(
    {
      seed,
      intake: {
        capacity: 400,
        concurrency: WORKERS,
        maxStartsPerSecond: { min: FLOOR, max: CEILING, targetP99Ms: 150 },
      },
      service: { meanMs: 100, distribution: 'constant', ...service },
      arrivals: [{ fromS: 0, toS: END_S, perSecond: 1.5 * CEILING, process: 'poisson' }],
      senders: [{ key: 'shop', retry: 'none' }],
    },
    ({ drainRate, totals }) => {
      starts.push(totals.started);
      // The workers are never all busy, so the reading is the limit on starts.
      return drainRate ?? CEILING;
    },
  );
  return { rates, starts };
}

/** The number of changes that are neither ×0.75 nor +10/s, within the floor and the ceiling. */
function otherSteps(rates: readonly number[]): number {
  return rates.filter((rate, index) => {
    const before = rates[index - 1] ?? rate;
    const allowed = [before, Math.max(FLOOR, DOWN * before), Math.min(CEILING, before + UP)];
    return !allowed.some((step) => Math.abs(rate - step) < 1e-6);
  }).length;
}

/** The maximum of starts above the rate in 100 ms. */
function excessStarts({ between }: Recording, starts: readonly number[]): number {
  const rates = between(0, END_S);
  const excess = rates.slice(1).map((rate, index) => {
    const started = (starts[index + 1] as number) - (starts[index] as number);
    return started - Math.max(rate, rates[index] as number) / 10;
  });
  return Math.max(...excess);
}

function slow(
  name: string,
  title: string,
  service: Service,
  goals: Probe['goals'],
  figures: (rates: readonly number[]) => (number | null)[],
): Probe {
  return {
    name: `rate-${name}`,
    title,
    goals: [
      atMost('steps that are neither ×0.75 nor +10/s, between 20/s and 200/s', 0),
      atMost('starts in 100 ms above the rate', 1),
      ...goals,
      atMost('time from recovery to 200/s (s)', 20),
    ],
    async run(seed) {
      const { rates, starts } = await recordRate(service, seed);
      const { between } = rates;
      return [
        otherSteps(between(0, END_S)),
        excessStarts(rates, starts),
        ...figures(between(SLOW_S, HEALTHY_S)),
        secondsUntil(between(HEALTHY_S, END_S), (rate) => rate === CEILING),
      ];
    },
  };
}

/** 300/s, and 80/s while slow. */
const KNEE = [
  { fromS: 0, concurrency: 30 },
  { fromS: SLOW_S, concurrency: 8 },
  { fromS: HEALTHY_S, concurrency: 30 },
];

/** Stalled for 200 of every 300 ms: deliveries take three times as long, however few are in service. */
const STUTTER = Array.from({ length: Math.floor((HEALTHY_S - SLOW_S) / 0.3) }, (_, index) => ({
  fromS: SLOW_S + 0.3 * index,
  toS: SLOW_S + 0.3 * index + 0.2,
}));

export const RATE: Subject = {
  title: 'Adaptive drain rate',
  about: [
    'Target p99 150 ms, minimum 20/s, maximum 200/s, in front of a downstream of 100 ms. 300/s arrive. The time bounds',
    'follow from the steps, one per second: four of ×0.75 from 200/s to below 80/s, nine to the minimum, and 18 of +10/s',
    'from there to the maximum.',
  ],
  probes: [
    slow(
      'knee',
      'the downstream sustains 80/s for 80 s, and 300/s before and after',
      { knee: KNEE },
      [
        atMost('time until below 80/s (s)', 5),
        atMost('mean rate from 20 s on (per s)', 80),
        atLeast('mean rate ÷ 80/s', 0.7),
      ],
      (rates) => {
        const settled = mean(rates.slice(200));
        return [secondsUntil(rates, (rate) => rate < 80), settled, settled / 80];
      },
    ),
    slow(
      'stutter',
      'deliveries take three times as long for 80 s, at any concurrency',
      { standStill: STUTTER },
      [
        atMost('time until the minimum (s)', 12),
        atMost('highest rate from then on (per s)', FLOOR),
        atLeast('lowest rate from then on (per s)', FLOOR),
      ],
      (rates) => [
        secondsUntil(rates, (rate) => rate === FLOOR),
        Math.max(...rates.slice(120)),
        Math.min(...rates.slice(120)),
      ],
    ),
  ],
};

import type { ScenarioJson } from './comparisons.ts';
import { atMost, largestError, record, type Probe, type Recording, type Subject } from './probe.ts';

/** Ten workers, 100 ms each. */
const TRUTH = 100;
/** Saturation begins here, from idle or after a minute of 30 % load. */
const BURST_S = 60;
const CHANGE_S = 75;
const END_S = 92;
const LOOK_BACK_S = 2;

const HINDSIGHT = 'the same error, relative to the completions in the 2 s before each reading';

type Distribution = 'constant' | 'exponential';
const DISTRIBUTIONS: readonly Distribution[] = ['constant', 'exponential'];

interface Course {
  readonly distribution: Distribution;
  readonly isIdle?: boolean;
  /** What changes in the downstream. */
  readonly service?: ScenarioJson;
}

function recordRate(
  { distribution, isIdle = false, service = {} }: Course,
  seed: number,
): Promise<Recording> {
  const before = { fromS: 0, toS: BURST_S, perSecond: 0.3 * TRUTH, process: 'poisson' };
  const burst = { fromS: BURST_S, toS: END_S, perSecond: 3 * TRUTH, process: 'poisson' };
  return record(
    {
      seed,
      intake: { capacity: 1000, concurrency: 10 },
      service: { meanMs: 100, distribution, ...service },
      arrivals: isIdle ? [burst] : [before, burst],
      senders: [{ key: 'shop', retry: 'none' }],
    },
    ({ drainRate }) => drainRate ?? Number.NaN,
  );
}

/** The largest error relative to the completions in the {@link LOOK_BACK_S} seconds before each reading. */
function errorInHindsight({ simulation, between }: Recording, fromS: number, toS: number): number {
  const { busyToMs } = simulation.seen;
  const errors = between(fromS, toS).map((rate, index) => {
    const atMs = fromS * 1000 + index * 100;
    const completed = busyToMs.filter((ms) => ms > atMs - LOOK_BACK_S * 1000 && ms <= atMs).length;
    return Math.abs((rate * LOOK_BACK_S) / completed - 1);
  });
  return Math.max(...errors);
}

function saturation(distribution: Distribution, isIdle: boolean): Probe {
  return {
    name: `drain-rate-${isIdle ? 'idle' : 'light'}-${distribution}`,
    title: `a burst ${isIdle ? 'from idle' : 'after a minute of 30 % load'}, ${distribution} service`,
    goals: [
      atMost('error 2 s after saturation began', 0.2),
      atMost('largest error from then on, for 10 s', 0.2),
      atMost(HINDSIGHT, 0.2),
    ],
    async run(seed) {
      const recording = await recordRate({ distribution, isIdle }, seed);
      const { between } = recording;
      return [
        largestError(between(BURST_S + 2, BURST_S + 2.1), TRUTH),
        largestError(between(BURST_S + 2, BURST_S + 12), TRUTH),
        errorInHindsight(recording, BURST_S + 2, BURST_S + 12),
      ];
    },
  };
}

/** Ten deliveries in service with a knee of five: each takes twice as long. */
function doubling(distribution: Distribution): Probe {
  return {
    name: `drain-rate-doubled-${distribution}`,
    title: `the service time doubles, ${distribution} service`,
    goals: [
      atMost('error 3 s later', 0.2),
      atMost('largest error from then on, for 10 s', 0.2),
      atMost(HINDSIGHT, 0.2),
    ],
    async run(seed) {
      const service = { knee: [{ fromS: CHANGE_S, concurrency: 5 }] };
      const recording = await recordRate({ distribution, service }, seed);
      const { between } = recording;
      return [
        largestError(between(CHANGE_S + 3, CHANGE_S + 3.1), TRUTH / 2),
        largestError(between(CHANGE_S + 3, CHANGE_S + 13), TRUTH / 2),
        errorInHindsight(recording, CHANGE_S + 3, CHANGE_S + 13),
      ];
    },
  };
}

function stall(distribution: Distribution): Probe {
  return {
    name: `drain-rate-stall-${distribution}`,
    title: `all workers stall for 10 s, ${distribution} service`,
    goals: [atMost('drain rate after 3 s (per s)', 1)],
    async run(seed) {
      const service = { standStill: [{ fromS: CHANGE_S, toS: CHANGE_S + 10 }] };
      const { between } = await recordRate({ distribution, service }, seed);
      return between(CHANGE_S + 3, CHANGE_S + 3.1);
    },
  };
}

export const DRAIN_RATE: Subject = {
  title: 'Drain rate',
  about: [
    'The relative error of `snapshot().drainRate`, read every 100 ms. Ten workers of 100 ms drain 100/s; 300/s arrive.',
  ],
  probes: DISTRIBUTIONS.flatMap((distribution) => [
    saturation(distribution, true),
    saturation(distribution, false),
    doubling(distribution),
    stall(distribution),
  ]),
};

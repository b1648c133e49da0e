import { type Simulation, jain, percentile, simulate } from '@webhook-backpressure/planner/parts';
import type { ScenarioJson } from './comparisons.ts';
import { atLeast, atMost, type Probe, type Subject } from './probe.ts';

/** Ten workers, 100 ms each on average: the deliveries per second to share. */
const DRAIN_RATE = 100;
const SECONDS = 200;
const NOISE = 20;

function contend(perSecond: ReadonlyMap<string, number>, seed: number): Promise<Simulation> {
  const total = [...perSecond.values()].reduce((sum, rate) => sum + rate, 0);
  const scenario: ScenarioJson = {
    seed,
    intake: { capacity: 400, concurrency: 10, maxWaitMs: 4000 },
    service: { meanMs: 100, distribution: 'exponential' },
    arrivals: [{ fromS: 0, toS: SECONDS, perSecond: total, process: 'poisson' }],
    senders: [...perSecond].map(([key, share]) => ({ key, share, retry: 'none' })),
  };
  return simulate(scenario);
}

function keysOf(count: number, perSecond: number): Map<string, number> {
  return new Map(Array.from({ length: count }, (_, index) => [`key ${String(index)}`, perSecond]));
}

function delivered({ results }: Simulation, key: string): number {
  return results.perKey[key]?.delivered ?? 0;
}

/** The p99 of wait plus handling for each key. */
function p99Ms({ scenario, traffic, seen }: Simulation): Map<string, number> {
  const delays = new Map<string, number[]>(scenario.senders.map(({ key }) => [key, []]));
  for (const [i, completedMs] of seen.completedMs.entries()) {
    const sender = scenario.senders[traffic.sender[i] as number];
    if (sender === undefined || Number.isNaN(completedMs)) continue;
    delays.get(sender.key)?.push(completedMs - (traffic.firstMs[i] as number));
  }
  return new Map([...delays].map(([key, ms]) => [key, percentile(Float64Array.from(ms).sort(), 0.99)]));
}

function equals(count: number): Probe {
  return {
    name: `fairness-equal-${String(count)}`,
    title: `${String(count)} equal keys, three times overload`,
    goals: [atLeast('Jain’s index of deliveries', 0.98)],
    async run(seed) {
      const keys = keysOf(count, (3 * DRAIN_RATE) / count);
      const simulation = await contend(keys, seed);
      return [jain([...keys.keys()].map((key) => delivered(simulation, key)))];
    },
  };
}

/** The other keys demand half of an equal share, so that their max-min share is their whole demand. */
function modest(count: number): Probe {
  const equal = DRAIN_RATE / (count + 1);
  return {
    name: `fairness-modest-${String(count)}`,
    title: `one key at 20 times its share, ${String(count)} others at half of theirs`,
    goals: [
      atLeast('rate of the worst other key ÷ its max-min share', 0.95),
      atMost('p99 of wait plus handling ÷ without the noisy key', 2),
    ],
    async run(seed) {
      const others = keysOf(count, equal / 2);
      const alone = p99Ms(await contend(others, seed));
      const noisy = await contend(new Map([...others, ['noisy', NOISE * equal]]), seed);
      const besides = p99Ms(noisy);
      const keys = [...others.keys()];
      return [
        Math.min(...keys.map((key) => delivered(noisy, key) / (noisy.results.perKey[key]?.events ?? 0))),
        Math.max(...keys.map((key) => (besides.get(key) as number) / (alone.get(key) as number))),
      ];
    },
  };
}

/** The other keys demand more than an equal share, so that their max-min share is an equal share. */
function hungry(count: number): Probe {
  const equal = DRAIN_RATE / (count + 1);
  return {
    name: `fairness-hungry-${String(count)}`,
    title: `one key at 20 times its share, ${String(count)} others at one and a half times theirs`,
    goals: [atLeast('rate of the worst other key ÷ its max-min share', 0.95)],
    async run(seed) {
      const others = keysOf(count, 1.5 * equal);
      const simulation = await contend(new Map([...others, ['noisy', NOISE * equal]]), seed);
      const share = simulation.results.delivered / (count + 1);
      return [Math.min(...[...others.keys()].map((key) => delivered(simulation, key) / share))];
    },
  };
}

export const FAIRNESS: Subject = {
  title: 'Fairness',
  about: [
    'Ten workers of 100 ms on average, exponential; senders never retry. `test/core/queue/fair-queue-steps.test.ts` counts',
    'that an admission takes the same steps with 10 and 1,000,000 queued deliveries, and with 10 and 100,000 keys.',
  ],
  probes: [equals(2), equals(5), equals(20), modest(4), modest(9), modest(19), hungry(4)],
};

import { percentile } from '@webhook-backpressure/planner/parts';
import {
  atMost,
  atLeast,
  largestError,
  mean,
  record,
  secondsUntil,
  type Probe,
  type Subject,
} from './probe.ts';

const KNEE = 25;
const HALVED = KNEE / 2;
const SERVICE_MS = 100;
/** Three times the throughput of the downstream. */
const PER_SECOND = (3 * KNEE * 1000) / SERVICE_MS;
const SETTLED_S = 60;
const HALVED_AT_S = 180;
const ADAPTED_S = HALVED_AT_S + 30;
const END_S = 240;
const NEAR = 0.2;

/** The p99 of the handling time without load. */
const UNLOADED_P99_MS = { constant: SERVICE_MS, exponential: SERVICE_MS * Math.log(100) };

function knee(distribution: 'constant' | 'exponential', initial: number): Probe {
  const isNear = (to: number) => (limit: number) => Math.abs(limit / to - 1) <= NEAR;
  return {
    name: `concurrency-${String(initial)}-${distribution}`,
    title: `from ${String(initial)}, ${distribution} service`,
    goals: [
      atMost('time until within 20 % of the knee (s)', SETTLED_S),
      atMost('distance of the mean limit from the knee, 60 s to 180 s', NEAR),
      atLeast('share of that time within 20 %', 1),
      atMost('after the knee halves: time until within 20 % of the new one (s)', 30),
      atMost('distance of the mean limit from the new one, from 30 s on', NEAR),
      atMost('p99 of handling ÷ unloaded, 60 s to 180 s', 2),
    ],
    async run(seed) {
      const { simulation, between } = await record(
        {
          seed,
          intake: { capacity: 400, concurrency: { initial, min: 1, max: 200 } },
          service: {
            meanMs: SERVICE_MS,
            distribution,
            knee: [
              { fromS: 0, concurrency: KNEE },
              { fromS: HALVED_AT_S, concurrency: HALVED },
            ],
          },
          arrivals: [{ fromS: 0, toS: END_S, perSecond: PER_SECOND, process: 'poisson' }],
          senders: [{ key: 'shop', retry: 'none' }],
        },
        ({ concurrency }) => concurrency,
      );
      const settled = between(SETTLED_S, HALVED_AT_S);
      const { busyFromMs, busyToMs } = simulation.seen;
      const tookMs = busyFromMs
        .map((fromMs, index) => ({ fromMs, toMs: busyToMs[index] as number }))
        .filter(({ toMs }) => toMs >= SETTLED_S * 1000 && toMs < HALVED_AT_S * 1000)
        .map(({ fromMs, toMs }) => toMs - fromMs);
      return [
        secondsUntil(between(0, HALVED_AT_S), isNear(KNEE)),
        largestError([mean(settled)], KNEE),
        settled.filter(isNear(KNEE)).length / settled.length,
        secondsUntil(between(HALVED_AT_S, END_S), isNear(HALVED)),
        largestError([mean(between(ADAPTED_S, END_S))], HALVED),
        percentile(Float64Array.from(tookMs).sort(), 0.99) / UNLOADED_P99_MS[distribution],
      ];
    },
  };
}

export const CONCURRENCY: Subject = {
  title: 'Adaptive concurrency',
  about: [
    'A downstream with a knee at 25, 100 ms: beyond the knee, latency rises linearly and throughput stays the same. Three',
    'times its throughput arrives. After 180 s the knee halves.',
  ],
  probes: [knee('constant', 5), knee('constant', 100), knee('exponential', 5), knee('exponential', 100)],
};

import { simulate } from '@webhook-backpressure/planner/parts';
import type { ScenarioJson } from './comparisons.ts';
import { atLeast, atMost, type Probe, type Subject } from './probe.ts';

/** Five times the throughput of ten workers with 50 ms each. */
const PER_SECOND = 1000;

/** Frozen for one second in every three during the burst. */
function freezes(burstS: number): ScenarioJson[] {
  return Array.from({ length: Math.ceil((burstS - 1) / 3) }, (_, i) => ({
    fromS: 1 + 3 * i,
    toS: 2 + 3 * i,
  }));
}

function scenario(burstS: number, seed: number, policy: string): ScenarioJson {
  return {
    seed,
    policy,
    intake: { capacity: 1000, concurrency: 10, maxWaitMs: 4000 },
    service: { meanMs: 50, distribution: 'constant' },
    process: { acceptMs: 0.5, refuseMs: 0.5, handleMs: 0.25, freeze: freezes(burstS) },
    arrivals: [{ fromS: 0, toS: burstS, perSecond: PER_SECOND, process: 'uniform' }],
    senders: [{ key: 'shop', retry: 'retry-after', timeoutMs: 5000 }],
  };
}

function stutter(burstS: number): Probe {
  return {
    name: `process-stutter-${String(burstS)}`,
    title: `five times overload for ${String(burstS)} s, the process is frozen for 1 s of every 3`,
    goals: [
      atMost('clearing time ÷ ideal with the same freezes', 1.4),
      atMost('clearing time ÷ that of a plain queue with the senders’ own backoff', 1.1),
      atMost('lost', 0),
      atLeast('share of handler runs that were answered', 0.95),
      atMost('attempts per event', 3.1),
    ],
    async run(seed) {
      const [ours, queue] = await Promise.all(
        ['intake', 'queue'].map((policy) => simulate(scenario(burstS, seed, policy))),
      );
      if (ours === undefined || queue === undefined) return [];
      const { clearS, idealClearS, lost, delivered, attemptsPerEvent } = ours.results;
      return [
        (clearS ?? NaN) / (idealClearS ?? NaN),
        (clearS ?? NaN) / (queue.results.clearS ?? NaN),
        lost,
        delivered / ours.seen.busyFromMs.length,
        attemptsPerEvent,
      ];
    },
  };
}

export const PROCESS: Subject = {
  title: 'A process that stutters',
  about: [
    'Ten workers of 50 ms, 200/s, in a single-threaded process that can answer 2,000 requests per second. Senders time out',
    'after 5 s and then follow their own backoff: 5, 10, 20 s and so on, up to an hour. The plain queue is first in, first',
    'out and refuses when it is full, without Retry-After.',
  ],
  probes: [stutter(4), stutter(60)],
};

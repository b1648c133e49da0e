import { exponential, stream } from '../base/random.ts';
import type { Arrivals, Scenario } from '../scenario/scenario.ts';

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

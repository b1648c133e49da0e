import { describe, expect, it } from 'vitest';
import { type Balanced, Balancer, type Balancing, simulate } from '@webhook-backpressure/planner/parts';

const scenario = {
  seed: 1,
  intake: { capacity: 1000, concurrency: 16 },
  service: { meanMs: 160, distribution: 'exponential' },
  arrivals: [{ fromS: 0, toS: 20, perSecond: 300, process: 'poisson' }],
  senders: [{ key: 'shop', retry: 'retry-after' }],
};

/** How often each of four receivers is chosen for deliveries 0 to 999, without any answer. */
function chosen(how: Balancing, receivers: Balanced[]): number[] {
  const balancer = new Balancer(how, 1);
  for (const receiver of receivers) balancer.add(receiver);
  const counts = receivers.map(() => 0);
  for (let i = 0; i < 1000; i += 1) {
    const { index } = balancer.choose(i);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

function four(connections: readonly number[]): Balanced[] {
  return connections.map((count, index) => ({ index, connections: count }));
}

describe('a balancer', () => {
  it('takes the receivers in turn with round-robin', () => {
    expect(chosen('round-robin', four([9, 0, 0, 0]))).toEqual([250, 250, 250, 250]);
  });

  it('takes those with the fewest connections in turn with least-connections', () => {
    expect(chosen('least-connections', four([5, 2, 7, 2]))).toEqual([0, 500, 0, 500]);
  });

  it.each(['random', 'hash'] as const)('takes all about equally often with %s', (how) => {
    for (const count of chosen(how, four([0, 9, 0, 0]))) expect(Math.abs(count - 250)).toBeLessThan(60);
  });

  it('moves only deliveries of a dead receiver with hash', () => {
    const receivers = four([0, 0, 0, 0]);
    const balancer = new Balancer('hash', 1);
    for (const receiver of receivers) balancer.add(receiver);
    const deliveries = Array.from({ length: 100 }, (_, i) => i);
    const before = deliveries.map((i) => balancer.choose(i).index);
    balancer.remove(receivers[2] as Balanced);
    for (const [i, index] of before.entries()) {
      if (index === 2) expect(balancer.choose(i).index).not.toBe(2);
      else expect(balancer.choose(i).index).toBe(index);
    }
  });
});

describe('a simulated fleet', () => {
  it('handles every delivery, and counts by receiver', async () => {
    const { results } = await simulate({ ...scenario, fleet: { receivers: 4 } });
    const { fleet, events, attemptsPerEvent } = results;
    expect(results.delivered).toBe(events);
    const sum = (values: (number | undefined)[] = []): number =>
      values.reduce<number>((total, value) => total + (value ?? 0), 0);
    expect(sum(fleet?.perReceiver.map(({ delivered }) => delivered))).toBe(events);
    expect(sum(fleet?.perReceiver.map(({ attempts }) => attempts))).toBe(
      Math.round(events * (attemptsPerEvent ?? 0)),
    );
  });

  it('is the same for the same seed', async () => {
    const fleet = { receivers: 3, balancer: 'least-connections', changes: [{ atS: 5, what: 'join' }] };
    const [first, second] = await Promise.all([
      simulate({ ...scenario, fleet }),
      simulate({ ...scenario, fleet }),
    ]);
    expect(second.results).toEqual(first.results);
  });

  it('retries the requests of a receiver that dies', async () => {
    const fleet = { receivers: 2, changes: [{ atS: 5, what: 'die' }] };
    const { results } = await simulate({ ...scenario, fleet });
    expect(results.delivered).toBe(results.events);
    expect(results.fleet?.perReceiver[0]?.attempts).toBeLessThan(
      (results.fleet?.perReceiver[1]?.attempts ?? 0) / 2,
    );
  });

  it('keeps most promises at whichever receiver the retry arrives', async () => {
    const warm = { fromS: 0, toS: 90, perSecond: 30, process: 'poisson' };
    const arrivals = [warm, { fromS: 60, toS: 80, perSecond: 400, process: 'poisson' }];
    const { results } = await simulate({ ...scenario, arrivals, fleet: { receivers: 4, registry: true } });
    // A receiver knows only its own promises.
    expect(results.fleet?.promisesKept).toBeGreaterThan(0.85);
  });
});

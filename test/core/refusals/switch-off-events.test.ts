import { describe, expect, it } from 'vitest';
import { builtInSenders } from '@webhook-backpressure/senders';
import type { Delivery, IntakeEvent } from '@webhook-backpressure/core';
import { createBench, letIn, occupy, startedNow, turnedAway, type Bench } from '../harness.ts';

const [shopify, github] = ['shopify', 'github'].map((name) =>
  builtInSenders.find((profile) => profile.name === name),
);

describe('an intake', () => {
  function endangered({ events }: Bench): IntakeEvent[] {
    return events.filter(({ type }) => type === 'endangered');
  }

  it('counts refusals, expired deliveries, failures, and disconnects', () => {
    const delivery: Delivery = { key: 'shopify', profile: shopify };
    const bench = createBench({ concurrency: 1, capacity: 1, maxWaitMs: 1000 });
    const { intake, clock } = bench;
    startedNow(intake.admit(delivery)).release('failure');
    const [busy] = occupy(intake);
    letIn(intake.admit(delivery)).leave();
    letIn(intake.admit(delivery));
    for (let i = 0; i < 3; i += 1) turnedAway(intake.admit(delivery));
    expect(endangered(bench)).toEqual([]);
    clock.advance(1100);
    expect(endangered(bench)).toMatchObject([{ sender: 'shopify' }]);
    expect(intake.snapshot().endangered).toEqual(['shopify']);
    turnedAway(intake.admit({ ...delivery, maxWaitMs: 0 }));
    busy?.release();
    startedNow(intake.admit(delivery)).release();
    expect(endangered(bench)).toHaveLength(1);
    expect(intake.snapshot().endangered).toEqual([]);
  });

  it('reports possible losses in the event and in the totals', () => {
    const bench = createBench({ concurrency: 1, capacity: 2, maxWaitMs: 1000 });
    const { intake, clock, events } = bench;
    const never: Delivery = { key: 'github', profile: github, retries: false };
    occupy(intake);
    letIn(intake.admit(never));
    letIn(intake.admit(never));
    turnedAway(intake.admit({ key: 'shop' }));
    expect(intake.snapshot().totals.lossRisk).toBe(0);
    for (let i = 1; i <= 3; i += 1) {
      turnedAway(intake.admit(never));
      expect(intake.snapshot().totals.lossRisk).toBe(i);
    }
    const risks = events.flatMap((event) => (event.type === 'refused' ? [event.lossRisk] : []));
    expect(risks).toEqual([false, true, true, true]);
    // Expired deliveries are refused as well.
    clock.advance(1100);
    expect(intake.snapshot().totals).toMatchObject({ lossRisk: 5, withdrawn: { expired: 2 } });
  });
});

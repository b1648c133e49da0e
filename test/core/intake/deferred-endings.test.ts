import type { Permit } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, expectBalance, letIn, occupy, reactions } from '../harness.ts';
import { profileOf } from '../refusals/watched-sender.ts';

describe('a delivery whose refusal is deferred', () => {
  const shop = profileOf('shop', 4);

  it('can end first in a dry run', () => {
    const { intake } = createBench({ dryRun: true, concurrency: 1, capacity: 1000 });
    // The last ones are queued in the places that are kept for them.
    const admitted = Array.from({ length: 990 }, () => letIn(intake.admit({ key: 'shop', profile: shop })));
    for (const { permit } of admitted.reverse()) (permit as Permit).release();
    expect(intake.snapshot()).toMatchObject({ depth: 0, active: 0 });
    expectBalance(intake.snapshot());
  });

  it('is withdrawn once, although a listener releases the running one', async () => {
    const { intake } = createBench({ concurrency: 1, capacity: 100, maxWaitMs: 60_000 });
    const [running] = occupy(intake, 'shop');
    let isReleased = false;
    intake.subscribe(({ type }) => {
      if (type !== 'withdrawn' || isReleased) return;
      isReleased = true;
      running?.release();
    });
    const results = Array.from({ length: 150 }, () => intake.admit({ key: 'shop', profile: shop }));
    for (const result of results.reverse()) {
      if (!result.admitted) continue;
      result.leave();
      break;
    }
    await reactions();
    expect(isReleased).toBe(true);
    expect(intake.snapshot().active).toBe(1);
    expectBalance(intake.snapshot());
  });
});

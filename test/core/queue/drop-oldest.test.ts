import { describe, expect, it } from 'vitest';
import { createBench, expectBalance, letIn, occupy, startedNow, turnedAway, typesOf } from '../harness.ts';

describe('drop-oldest', () => {
  it('admits the newest and refuses the oldest delivery at the high-water mark', async () => {
    const { intake, events } = createBench({ concurrency: 1, capacity: 10, overflow: 'drop-oldest' });
    occupy(intake);
    const waiting = Array.from({ length: 20 }, () => letIn(intake.admit()));
    expect(intake.snapshot()).toMatchObject({
      depth: 8,
      totals: { admitted: 21, withdrawn: { displaced: 12 } },
    });
    for (const { permit } of waiting.slice(0, 12)) {
      expect(turnedAway(await permit)).toMatchObject({ reason: 'displaced', status: 503 });
    }
    expect(typesOf(events).filter((type) => type === 'refused')).toEqual([]);
    expect(events.filter(({ type }) => type === 'withdrawn')).toHaveLength(12);
    expectBalance(intake.snapshot());
  });

  it('refuses no delivery while the queue is between its marks', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 10, overflow: 'drop-oldest' });
    occupy(intake);
    const waiting = Array.from({ length: 8 }, () => letIn(intake.admit()));
    waiting[0]?.leave();
    expect(intake.snapshot()).toMatchObject({ state: 'shedding', depth: 7 });
    letIn(intake.admit());
    expect(intake.snapshot()).toMatchObject({ depth: 8, totals: { withdrawn: { displaced: 0 } } });
  });

  it('displaces the oldest delivery of a noisy key, and the oldest of all for a quiet key', async () => {
    const { intake } = createBench({ concurrency: 1, capacity: 10, overflow: 'drop-oldest' });
    occupy(intake);
    const quiet = letIn(intake.admit({ key: 'quiet' }));
    const noisy = Array.from({ length: 7 }, () => letIn(intake.admit({ key: 'noisy' })));
    for (let i = 0; i < 50; i += 1) letIn(intake.admit({ key: 'noisy' }));
    expect(intake.snapshot()).toMatchObject({ depth: 8, keys: 2 });
    expect(turnedAway(await (noisy[0] as (typeof noisy)[0]).permit).reason).toBe('displaced');
    letIn(intake.admit({ key: 'another' }));
    letIn(intake.admit({ key: 'one more' }));
    expect(turnedAway(await quiet.permit).reason).toBe('displaced');
  });

  it('lets entitled deliveries use the reserve, and never exceeds the capacity', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 10, overflow: 'drop-oldest' });
    occupy(intake);
    for (let i = 0; i < 8; i += 1) letIn(intake.admit());
    for (let i = 0; i < 30; i += 1) {
      letIn(intake.admit(i % 2 === 0 ? { priority: 'critical' } : {}));
      expect(intake.snapshot().depth).toBeLessThanOrEqual(10);
    }
    expect(intake.snapshot().depth).toBe(10);
  });

  it('displaces no delivery for one whose sender would not wait long enough', () => {
    const { intake, clock } = createBench({ concurrency: 1, capacity: 10, overflow: 'drop-oldest' });
    const permit = startedNow(intake.admit());
    clock.advance(100);
    permit.release();
    occupy(intake);
    for (let i = 0; i < 8; i += 1) letIn(intake.admit());
    expect(turnedAway(intake.admit({ maxWaitMs: 850 })).reason).toBe('wait');
    expect(intake.snapshot().totals.withdrawn.displaced).toBe(0);
    letIn(intake.admit({ maxWaitMs: 950 }));
    expect(intake.snapshot().totals.withdrawn.displaced).toBe(1);
  });

  it.each([1, 2, 10])('does not toggle the gate at every delivery, with a capacity of %i', (capacity) => {
    const { intake, events } = createBench({ concurrency: 1, capacity, overflow: 'drop-oldest' });
    occupy(intake);
    for (let i = 0; i < 50; i += 1) letIn(intake.admit());
    const toggles = typesOf(events).filter((type) => type === 'shedding' || type === 'accepting');
    expect(toggles).toEqual(['shedding']);
  });

  it('does not lengthen the queue above a lowered capacity', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 100, overflow: 'drop-oldest' });
    occupy(intake);
    for (let i = 0; i < 60; i += 1) letIn(intake.admit());
    intake.update({ capacity: 10 });
    for (let i = 0; i < 30; i += 1) letIn(intake.admit());
    expect(intake.snapshot().depth).toBe(60);
  });
});

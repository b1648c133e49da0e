import { builtInSenders } from '@webhook-backpressure/senders';
import type { IntakeEvent } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, letIn, occupy, startedLater, startedNow, turnedAway } from '../harness.ts';

const stripe = builtInSenders.find(({ name }) => name === 'stripe');

/** The events of deliveries, each with its sender and its sequence. */
function subjects(events: readonly IntakeEvent[]): unknown[] {
  return events.flatMap((event) =>
    'key' in event ? [[event.type, event.sender, 'sequence' in event ? event.sequence : 'none']] : [],
  );
}

describe('the events of a delivery', () => {
  it('name its sender, whatever its key is, and carry its sequence', async () => {
    const { intake, events } = createBench({ concurrency: 1, capacity: 2 });
    const delivery = { key: 'tenant 7', profile: stripe };
    const first = startedNow(intake.admit(delivery));
    const queued = letIn(intake.admit(delivery));
    const leaving = letIn(intake.admit());
    turnedAway(intake.admit({ ...delivery, priority: 'critical' }));
    leaving.leave();
    first.release('failure');
    (await startedLater(queued)).release();
    expect(subjects(events)).toEqual([
      ['started', 'stripe', 1],
      ['queued', 'stripe', 2],
      ['queued', undefined, 3],
      ['refused', 'stripe', 'none'],
      ['withdrawn', undefined, 3],
      ['completed', 'stripe', 1],
      ['started', 'stripe', 2],
      ['completed', 'stripe', 2],
    ]);
  });

  it('report a queued delivery during its admission, before it starts', async () => {
    const { intake, events } = createBench({ concurrency: 1 });
    const [busy] = occupy(intake);
    const heard: string[] = [];
    intake.subscribe(({ type }) => heard.push(type));
    const admission = letIn(intake.admit({ key: 'shop' }));
    expect(heard).toEqual(['queued']);
    expect(intake.snapshot().depth).toBe(1);
    busy?.release();
    await startedLater(admission);
    expect(heard).toEqual(['queued', 'completed', 'started']);
    expect(events.at(-1)).toMatchObject({ type: 'started', key: 'shop', sequence: 2 });
  });

  it('number the deliveries of a dry run too, which are refused and admitted', () => {
    const { intake, events } = createBench({ dryRun: true, concurrency: 1, capacity: 1 });
    const permits = Array.from({ length: 3 }, () => startedNow(intake.admit({ profile: stripe })));
    for (const permit of permits.reverse()) permit.release();
    expect(subjects(events)).toEqual([
      ['started', 'stripe', 1],
      ['queued', 'stripe', 2],
      ['refused', 'stripe', 'none'],
      ['completed', 'stripe', 3],
      ['completed', 'stripe', 2],
      ['completed', 'stripe', 1],
    ]);
    expect(intake.snapshot().totals).toMatchObject({ arrivals: 3, admitted: 3, refused: { full: 1 } });
  });

  it('carry the sequence of the delivery whose permit is overdue', () => {
    const { intake, clock, events } = createBench({ concurrency: 2, maxHandlingMs: 1000 });
    startedNow(intake.admit()).release();
    startedNow(intake.admit({ profile: stripe }));
    clock.advance(1100);
    expect(subjects(events).slice(2)).toEqual([
      ['started', 'stripe', 2],
      ['overdue', 'stripe', 2],
      ['completed', 'stripe', 2],
    ]);
  });
});

describe('the totals', () => {
  it('count refusals by status and reason, and arrivals', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 2, shed: { off: true } });
    occupy(intake);
    for (let i = 0; i < 2; i += 1) letIn(intake.admit({ key: 'shop' }));
    for (let i = 0; i < 3; i += 1) expect(turnedAway(intake.admit({ key: 'shop' })).status).toBe(429);
    expect(turnedAway(intake.admit()).status).toBe(503);
    expect(turnedAway(intake.admit({ key: 'off', statusCode: 429 })).reason).toBe('shed');
    const { arrivals, refused, refusedByStatus } = intake.snapshot().totals;
    const none = { shedding: 0, full: 0, wait: 0, displaced: 0, pressure: 0, shed: 0, closing: 0 };
    expect(refusedByStatus).toEqual({ 429: { ...none, full: 3, shed: 1 }, 503: { ...none, full: 1 } });
    expect(refused).toEqual({ ...none, full: 4, shed: 1 });
    expect(arrivals).toBe(8);
  });

  it('are copies', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 1 });
    const before = intake.snapshot().totals;
    const copy = structuredClone(before);
    for (let i = 0; i < 3; i += 1) intake.admit({ id: String(i) });
    expect(intake.snapshot().totals.arrivals).toBe(3);
    expect(before).toEqual(copy);
  });
});

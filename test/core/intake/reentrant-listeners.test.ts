import type { Admission, IntakeEvent, Permit } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import {
  createBench,
  expectBalance,
  letIn,
  occupy,
  reactions,
  startedNow,
  turnedAway,
  typesOf,
} from '../harness.ts';

type EventType = IntakeEvent['type'];

describe('a listener', () => {
  it('that throws or rejects harms neither the intake nor the next listener', async () => {
    const { intake, clock } = createBench({ concurrency: 1, capacity: 2 });
    const heard: EventType[] = [];
    intake.subscribe(() => {
      throw new Error('thrown by a listener');
    });
    intake.subscribe(() => Promise.reject(new Error('rejected by a listener')));
    intake.subscribe((event) => heard.push(event.type));
    const permit = startedNow(intake.admit());
    intake.admit();
    intake.admit();
    intake.admit();
    permit.release();
    clock.advance(60_000);
    await reactions();
    expect(heard).toEqual(
      expect.arrayContaining(['started', 'shedding', 'refused', 'completed', 'accepting', 'overdue']),
    );
    expectBalance(intake.snapshot());
  });

  it('that changes its event does not mislead the next', () => {
    const { intake } = createBench();
    intake.subscribe((event) => Object.assign(event, { type: 'nonsense', key: 'other', at: -1 }));
    const heard: IntakeEvent[] = [];
    intake.subscribe((event) => heard.push(event));
    intake.admit({ key: 'shop' });
    expect(heard).toEqual([
      { type: 'started', key: 'shop', sender: undefined, sequence: 1, waitedMs: 0, at: 0 },
    ]);
  });

  it('gets no more events when its subscription has ended, but its twin does', () => {
    const { intake } = createBench();
    let calls = 0;
    const listener = (): void => {
      calls += 1;
    };
    const end = intake.subscribe(listener);
    intake.subscribe(listener);
    end();
    end();
    intake.admit();
    expect(calls).toBe(1);
  });

  it('may release the permit that is reported overdue', () => {
    const { intake, clock, events } = createBench({ concurrency: 1, maxHandlingMs: 1000 });
    const permits = occupy(intake);
    letIn(intake.admit());
    intake.subscribe((event) => {
      if (event.type === 'overdue') permits[0]?.release('success');
    });
    clock.advance(1050);
    const { totals, active, depth } = intake.snapshot();
    expect({ active, depth }).toEqual({ active: 1, depth: 0 });
    expect(totals).toMatchObject({ admitted: 2, started: 2, completed: 0, failed: 1, overdue: 1 });
    expect(events.filter((event) => event.type === 'completed')).toHaveLength(1);
    expectBalance(intake.snapshot());
  });

  it('may close the intake from the event that reports its end', async () => {
    const { intake, events, clock } = createBench();
    const reports: unknown[] = [];
    intake.subscribe((event) => {
      if (event.type === 'closed') void intake.close().then((report) => reports.push(report));
    });
    const report = await intake.close();
    await reactions();
    expect(reports).toEqual([report]);
    expect(events.filter((event) => event.type === 'closed')).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it.each<EventType>([
    'queued',
    'started',
    'completed',
    'refused',
    'shedding',
    'accepting',
    'withdrawn',
    'updated',
  ])('that closes at %s leaves a closed and empty intake', async (type) => {
    const { intake, clock } = createBench({
      concurrency: 1,
      capacity: 3,
      maxStartsPerSecond: 10,
      overflow: type === 'withdrawn' ? 'drop-oldest' : 'refuse',
    });
    let closing: Promise<unknown> | undefined;
    intake.subscribe((event) => {
      if (event.type === type) closing ??= intake.close({ timeoutMs: 100 });
    });
    let permit: Permit | undefined;
    const waiting: Admission[] = [];
    for (let i = 0; i < 6; i += 1) {
      const result = intake.admit({ key: String(i) });
      if (!result.admitted) continue;
      if (result.permit instanceof Promise) waiting.push(result);
      else permit = result.permit;
    }
    intake.update({ maxWaitMs: 5000 });
    permit?.release();
    for (let i = 0; i < 6; i += 1) {
      clock.advance(50);
      await reactions();
      for (const { permit: promise } of waiting) {
        const settled = await Promise.race([promise, Promise.resolve(undefined)]);
        if (settled?.admitted === true) settled.release();
      }
    }
    closing ??= Promise.reject(new Error(`${type} was never reported`));
    await closing;
    expect(intake.snapshot()).toMatchObject({ state: 'closed', depth: 0, active: 0 });
    expectBalance(intake.snapshot());
    expect(clock.pending).toBe(0);
    for (const { permit: promise } of waiting) await promise;
  });

  it('that admits while the oldest is displaced cannot push the queue above its capacity', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 5, overflow: 'drop-oldest' });
    occupy(intake);
    for (let i = 0; i < 10; i += 1) intake.admit({ priority: 'critical' });
    expect(intake.snapshot().depth).toBe(5);
    let extra = 3;
    intake.subscribe((event) => {
      if (event.type !== 'withdrawn' || extra === 0) return;
      extra -= 1;
      intake.admit({ priority: 'critical' });
    });
    intake.admit();
    expect(intake.snapshot().depth).toBeLessThanOrEqual(5);
    expectBalance(intake.snapshot());
  });

  it('that closes during an admission has that delivery refused as closing', () => {
    const { intake, clock } = createBench({ concurrency: 1, capacity: 100, maxWaitMs: 5000 });
    const first = startedNow(intake.admit());
    clock.advance(100);
    first.release();
    occupy(intake);
    for (let i = 0; i < 10; i += 1) letIn(intake.admit());
    intake.subscribe((event) => {
      if (event.type === 'shedding') void intake.close();
    });
    // The workers are stalled meanwhile, and the next delivery finds the marks below the depth.
    clock.advance(4000);
    expect(intake.snapshot().state).toBe('accepting');
    expect(turnedAway(intake.admit({ priority: 'critical' })).reason).toBe('closing');
  });

  it('may withdraw the delivery whose refusal endangers its sender', () => {
    const { intake, clock, events } = createBench({ concurrency: 1, maxWaitMs: 100 });
    const profile: SenderProfile = {
      name: 'strict',
      match: { header: 'x-strict' },
      switchOff: { inARow: 1 },
      source: 'none',
      verifiedAt: '2026-11-20',
    };
    occupy(intake);
    const waiting = letIn(intake.admit({ profile }));
    intake.subscribe((event) => {
      if (event.type === 'endangered') waiting.leave();
    });
    clock.advance(200);
    expect(typesOf(events)).toEqual(['started', 'queued', 'withdrawn', 'endangered']);
    expect(intake.snapshot().totals.withdrawn).toMatchObject({ expired: 1, abandoned: 0 });
    expectBalance(intake.snapshot());
  });

  it('that starts other deliveries from a start keeps the order of the queue', async () => {
    const { intake } = createBench({ concurrency: 3 });
    const permits = occupy(intake);
    const order: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { permit } = letIn(intake.admit());
      void Promise.resolve(permit).then(() => order.push(i));
    }
    intake.subscribe((event) => {
      if (event.type === 'started') permits.pop()?.release();
    });
    permits.pop()?.release();
    await reactions();
    expect(order).toEqual([0, 1, 2]);
    expectBalance(intake.snapshot());
  });
});

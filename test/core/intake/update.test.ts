import { describe, expect, it } from 'vitest';
import type { Tunable } from '@webhook-backpressure/core';
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

describe('update', () => {
  it('of the capacity below the depth drops no delivery, and sheds until the low-water mark', async () => {
    const { intake, events } = createBench({ concurrency: 1, capacity: 100 });
    const [running] = occupy(intake);
    const waiting = Array.from({ length: 60 }, () => letIn(intake.admit()));
    intake.update({ capacity: 10 });
    expect(intake.snapshot()).toMatchObject({
      depth: 60,
      capacity: 10,
      highWater: 8,
      lowWater: 5,
      state: 'shedding',
    });
    expect(turnedAway(intake.admit({ priority: 'critical' })).reason).toBe('full');
    expect(turnedAway(intake.admit()).reason).toBe('full');
    running?.release();
    let started = 0;
    for (const { permit } of waiting) {
      const result = await permit;
      if (!result.admitted) throw new Error('one that waited was dropped');
      started += 1;
      const { depth, state } = intake.snapshot();
      expect(depth).toBe(60 - started);
      expect(state).toBe(depth > 5 ? 'shedding' : 'accepting');
      if (depth <= 7 && depth > 5) expect(turnedAway(intake.admit()).reason).toBe('shedding');
      result.release();
    }
    expect(started).toBe(60);
    expect(typesOf(events).filter((type) => type === 'withdrawn')).toEqual([]);
    expectBalance(intake.snapshot());
  });

  it('to a higher concurrency starts queued deliveries in order', async () => {
    const { intake } = createBench({ concurrency: 1 });
    occupy(intake);
    const order: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      void Promise.resolve(letIn(intake.admit()).permit).then(() => order.push(i));
    }
    intake.update({ concurrency: 4 });
    await reactions();
    expect(order).toEqual([0, 1, 2]);
    expect(intake.snapshot()).toMatchObject({ active: 4, depth: 2, concurrency: 4 });
  });

  it('to a lower concurrency ends no delivery, and starts none until there is room', () => {
    const { intake } = createBench({ concurrency: 4 });
    const permits = occupy(intake);
    letIn(intake.admit());
    intake.update({ concurrency: 2 });
    expect(intake.snapshot()).toMatchObject({ active: 4, depth: 1 });
    permits[0]?.release();
    permits[1]?.release();
    expect(intake.snapshot()).toMatchObject({ active: 2, depth: 1 });
    permits[2]?.release();
    expect(intake.snapshot()).toMatchObject({ active: 2, depth: 0 });
  });

  it('of the longest wait applies to new deliveries, and moves the effective capacity', async () => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 1000 });
    const first = startedNow(intake.admit());
    clock.advance(10);
    first.release();
    occupy(intake);
    const before = letIn(intake.admit());
    intake.update({ maxWaitMs: 200 });
    const after = letIn(intake.admit());
    expect(intake.snapshot().effectiveCapacity).toBe(20);
    clock.advance(300);
    expect(turnedAway(await after.permit).reason).toBe('wait');
    expect(intake.snapshot().depth).toBe(1);
    clock.advance(800);
    expect(turnedAway(await before.permit).reason).toBe('wait');
  });

  it('of the longest handling time applies to later starts', () => {
    const { intake, clock } = createBench({ concurrency: 2, maxHandlingMs: 10_000 });
    startedNow(intake.admit({ key: 'before' }));
    intake.update({ maxHandlingMs: 500 });
    startedNow(intake.admit({ key: 'after' }));
    clock.advance(600);
    expect(intake.snapshot()).toMatchObject({ active: 1, totals: { overdue: 1 } });
    clock.advance(9500);
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { overdue: 2 } });
  });

  it('of the marks takes effect immediately', () => {
    const { intake, events } = createBench({ concurrency: 1, capacity: 10 });
    occupy(intake);
    for (let i = 0; i < 6; i += 1) letIn(intake.admit());
    intake.update({ highWaterMark: 0.6, lowWaterMark: 0.2 });
    expect(intake.snapshot()).toMatchObject({ state: 'shedding', highWater: 6, lowWater: 2 });
    intake.update({ highWaterMark: 0.9, lowWaterMark: 0.6 });
    expect(intake.snapshot()).toMatchObject({ state: 'accepting', highWater: 9, lowWater: 6 });
    expect(typesOf(events).filter((type) => type !== 'started' && type !== 'queued')).toEqual([
      'shedding',
      'updated',
      'accepting',
      'updated',
    ]);
  });

  it('of the overflow and of the status applies to the next refusal', async () => {
    const { intake } = createBench({ concurrency: 1, capacity: 2 });
    occupy(intake);
    const oldest = letIn(intake.admit());
    letIn(intake.admit());
    expect(turnedAway(intake.admit()).status).toBe(503);
    intake.update({ statusCode: 429 });
    expect(turnedAway(intake.admit()).status).toBe(429);
    intake.update({ overflow: 'drop-oldest' });
    letIn(intake.admit());
    expect(turnedAway(await oldest.permit)).toMatchObject({ reason: 'displaced', status: 429 });
    intake.update({ overflow: 'refuse' });
    expect(turnedAway(intake.admit()).reason).toBe('full');
  });

  it('reports the names of the changed options', () => {
    const { intake, events, clock } = createBench();
    clock.advance(7);
    intake.update({ capacity: 5, maxStartsPerSecond: undefined, shed: { shop: true } });
    intake.update({});
    expect(events).toEqual([
      { type: 'updated', options: ['capacity', 'shed'], at: 7 },
      { type: 'updated', options: [], at: 7 },
    ]);
  });

  it('does not read the given object again', () => {
    const { intake } = createBench();
    const changes: Tunable = { shed: { shop: true }, retryAfter: { minSeconds: 5 } };
    intake.update(changes);
    Object.assign(changes.shed ?? {}, { mail: true });
    Object.assign(changes.retryAfter ?? {}, { minSeconds: -1 });
    expect(intake.admit({ key: 'mail' }).admitted).toBe(true);
    expect(turnedAway(intake.admit({ key: 'shop' })).retryAfterSeconds).toBe(60);
  });
});

describe('subscribe', () => {
  it.each([undefined, null, 'log', {}])('rejects %s as a listener', (listener) => {
    const { intake } = createBench();
    expect(() => intake.subscribe(listener as () => void)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_LISTENER' }),
    );
  });
});

describe('snapshot', () => {
  it('is a copy that does not change, and changes nothing', () => {
    const { intake } = createBench({ concurrency: 1 });
    const before = intake.snapshot();
    const copy = structuredClone(before);
    occupy(intake);
    letIn(intake.admit());
    expect(before).toEqual(copy);
    Object.assign(before.totals.refused, { full: 99 });
    expect(intake.snapshot().totals.refused.full).toBe(0);
  });

  it('has the wait of the oldest delivery, whatever its key and its turn', () => {
    const { intake, clock } = createBench({ concurrency: 1 });
    const [running] = occupy(intake);
    const oldest = letIn(intake.admit({ key: 'a' }));
    clock.advance(300);
    letIn(intake.admit({ key: 'b' }));
    clock.advance(200);
    expect(intake.snapshot().oldestWaitMs).toBe(500);
    oldest.leave();
    expect(intake.snapshot().oldestWaitMs).toBe(200);
    running?.release();
    expect(intake.snapshot()).toMatchObject({ oldestWaitMs: 0, keys: 0 });
  });
});

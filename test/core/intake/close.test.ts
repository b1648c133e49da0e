import { describe, expect, it } from 'vitest';
import {
  createBench,
  expectBalance,
  letIn,
  occupy,
  reactions,
  startedLater,
  startedNow,
  turnedAway,
} from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

describe('close', () => {
  it('of an idle intake resolves immediately', async () => {
    const { intake, clock, events } = createBench();
    const report = await intake.close();
    expect(report).toEqual({ completed: 0, refused: 0, remaining: 0 });
    expect(intake.snapshot().state).toBe('closed');
    expect(events).toEqual([{ type: 'closed', completed: 0, refused: 0, remaining: 0, at: 0 }]);
    expect(clock.pending).toBe(0);
  });

  it('refuses new deliveries and drains the queue', async () => {
    const { intake, clock } = createBench({ concurrency: 1 });
    const [running] = occupy(intake);
    const waiting = [letIn(intake.admit()), letIn(intake.admit())];
    const closing = intake.close({ timeoutMs: 5000 });
    expect(intake.snapshot().state).toBe('closing');
    expect(turnedAway(intake.admit({ priority: 'critical' }))).toMatchObject({
      reason: 'closing',
      status: 503,
      headers: { Connection: 'close' },
    });
    running?.release();
    for (const one of waiting) (await startedLater(one)).release('failure');
    expect(await closing).toEqual({ completed: 3, refused: 0, remaining: 0 });
    expect(turnedAway(intake.admit()).reason).toBe('closing');
    expect(intake.snapshot()).toMatchObject({ state: 'closed', totals: { refused: { closing: 2 } } });
    expect(clock.pending).toBe(0);
  });

  it('refuses queued deliveries at the timeout, and reports those still being handled', async () => {
    const { intake, clock, events } = createBench({ concurrency: 2, maxHandlingMs: 1000 });
    const [hung, slow] = occupy(intake, 'shop');
    const waiting = [letIn(intake.admit({ key: 'shop' })), letIn(intake.admit({ key: 'mail' }))];
    const closing = intake.close({ timeoutMs: 500 });
    clock.advance(499);
    expect(intake.snapshot()).toMatchObject({ state: 'closing', depth: 2 });
    clock.advance(1);
    expect(await closing).toEqual({ completed: 0, refused: 2, remaining: 2 });
    for (const { permit } of waiting) {
      expect(turnedAway(await permit)).toMatchObject({ reason: 'closing', status: 503 });
    }
    expect(clock.pending).toBe(0);
    expect(intake.snapshot()).toMatchObject({
      state: 'closed',
      active: 2,
      totals: { withdrawn: { closing: 2 } },
    });

    // A hung handler may end at any time; its delivery is no longer tracked.
    clock.advance(100_000);
    slow?.release();
    hung?.release('failure');
    hung?.release('failure');
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1, failed: 1, overdue: 0 } });
    expectBalance(intake.snapshot());
    expect(clock.pending).toBe(0);
    expect(events.filter(({ type }) => type === 'closed')).toHaveLength(1);
  });

  it('with a timeout of 0 refuses queued deliveries in the next turn', async () => {
    const { intake, clock } = createBench({ concurrency: 1 });
    occupy(intake);
    const { permit } = letIn(intake.admit());
    const closing = intake.close({ timeoutMs: 0 });
    clock.advance(0);
    expect(await closing).toEqual({ completed: 0, refused: 1, remaining: 1 });
    expect(turnedAway(await permit).reason).toBe('closing');
  });

  it('returns the same report the second time', async () => {
    const { intake, clock } = createBench({ concurrency: 1 });
    const [running] = occupy(intake);
    const first = intake.close({ timeoutMs: 60_000 });
    const second = intake.close({ timeoutMs: 10 });
    clock.advance(1000);
    expect(intake.snapshot().state).toBe('closing');
    running?.release();
    expect(await second).toBe(await first);
    expect(await intake.close()).toBe(await first);
  });

  it('settles every delivery of a burst', async () => {
    const bench = createBench({ concurrency: 5, capacity: 200 });
    const { intake, clock } = bench;
    const workshop = new Workshop(bench, () => 100);
    let offered = 0;
    let refused = 0;
    arrivals(
      clock,
      10_000,
      () => 3,
      () => {
        offered += 1;
        if (workshop.bring({ key: String(offered % 7) }) !== undefined) refused += 1;
      },
    );
    await runUntil(clock, 4000);
    const completedBefore = workshop.handled.length;
    const closing = intake.close({ timeoutMs: 2000 });
    const { depth, active } = intake.snapshot();
    await runUntil(clock, 30_000);
    const report = await closing;
    expect(report.completed).toBeGreaterThanOrEqual(95);
    expect(report.completed + report.refused + report.remaining).toBe(depth + active);
    expect(workshop.handled.length - completedBefore).toBe(report.completed + report.remaining);
    expect(intake.snapshot()).toMatchObject({ state: 'closed', depth: 0, active: 0, keys: 0 });
    expect(intake.snapshot().totals.admitted + refused).toBe(offered);
    expectBalance(intake.snapshot());
    expect(clock.pending).toBe(0);
  });

  it('drains a paced queue at its pace', async () => {
    const bench = createBench({ concurrency: 5, maxStartsPerSecond: 10 });
    const workshop = new Workshop(bench, () => 5);
    for (let i = 0; i < 6; i += 1) workshop.bring();
    const closing = bench.intake.close({ timeoutMs: 60_000 });
    await runUntil(bench.clock, 1000);
    expect(await closing).toEqual({ completed: 6, refused: 0, remaining: 0 });
    expect(bench.events.at(-1)).toMatchObject({ type: 'closed', at: 505 });
    await runUntil(bench.clock, 2000);
    expect(bench.clock.pending).toBe(0);
  });

  it('resolves when the last queued delivery leaves or expires', async () => {
    const { intake, clock } = createBench({ concurrency: 1, maxStartsPerSecond: 0.01, maxWaitMs: 300 });
    startedNow(intake.admit()).release();
    const [leaving, expiring] = [letIn(intake.admit()), letIn(intake.admit())];
    const closing = intake.close({ timeoutMs: 60_000 });
    leaving.leave();
    clock.advance(400);
    expect(turnedAway(await expiring.permit).reason).toBe('wait');
    expect(await closing).toEqual({ completed: 0, refused: 0, remaining: 0 });
    expect(clock.pending).toBe(0);
  });

  it('leaves an intake that can be read and updated, and starts nothing', async () => {
    const { intake, clock } = createBench({ concurrency: 1 });
    occupy(intake);
    const waiting = letIn(intake.admit());
    const closing = intake.close({ timeoutMs: 10 });
    clock.advance(10);
    await closing;
    waiting.leave();
    intake.update({ concurrency: 20, maxStartsPerSecond: 5 });
    await reactions();
    expect(intake.snapshot()).toMatchObject({ state: 'closed', depth: 0, active: 1, concurrency: 20 });
    expect(clock.pending).toBe(0);
  });

  it.each([-1, Number.NaN, Infinity, '5', null, 86_400_001])('rejects %s as a timeout', (timeoutMs) => {
    const { intake } = createBench();
    expect(() => intake.close({ timeoutMs: timeoutMs as number })).toThrow(
      expect.objectContaining({
        code: 'ERR_WBP_CLOSE',
        message: expect.stringContaining('timeoutMs') as string,
      }),
    );
    expect(intake.snapshot().state).toBe('accepting');
  });

  it.each([
    [null, 'ERR_WBP_CLOSE', 'The argument of close() must be an object, but was null.'],
    [5000, 'ERR_WBP_CLOSE', 'The argument of close() must be an object, but was 5000.'],
    [
      { timeout: 5000 },
      'ERR_WBP_UNKNOWN_OPTION',
      'Unknown option "timeout" in close(). Did you mean "timeoutMs"?',
    ],
  ])('rejects %o as options', (options, code, sentence) => {
    const { intake } = createBench();
    expect(() => intake.close(options as object)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(sentence) as string }) as Error,
    );
    expect(intake.snapshot().state).toBe('accepting');
  });
});

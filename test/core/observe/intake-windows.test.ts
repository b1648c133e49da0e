import { observe } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { createBench, startedNow } from '../harness.ts';

const SHED_OFF = { shed: { off: true } };

describe('the windows of an intake', () => {
  it('begin with the observation', () => {
    const { intake, clock } = createBench(SHED_OFF);
    intake.admit({ key: 'off' });
    const observation = observe(intake);
    clock.advance(7000);
    startedNow(intake.admit({ key: 'shop' })).release();
    intake.admit({ key: 'off' });
    const { oneMinute } = observation.read().windows;
    expect(oneMinute).toMatchObject({
      seconds: 7,
      all: { arrivals: 2, refused: 1, refusedRatio: 0.5, completed: 1, failed: 0 },
      keys: [
        { name: 'shop', arrivals: 1 },
        { name: 'off', refused: 1 },
      ],
      senders: [],
    });
  });

  it('have the waits, the handling times and the times to retry', async () => {
    const { intake, clock } = createBench({ ...SHED_OFF, concurrency: 1 });
    const observation = observe(intake);
    const first = startedNow(intake.admit());
    const second = intake.admit();
    clock.advance(1000);
    first.release('failure');
    const permit = second.admitted ? await second.permit : second;
    clock.advance(50);
    if (permit.admitted) permit.release();
    intake.admit({ key: 'off' });
    const { all } = observation.read().windows.oneMinute;
    expect(all).toMatchObject({ arrivals: 3, refused: 1, completed: 1, failed: 1 });
    expect(all.waitMs.p50).toBe(0);
    expect((all.waitMs.p99 ?? 0) / 1000).toBeCloseTo(1, 1);
    expect((all.handlingMs.p50 ?? 0) / 50).toBeCloseTo(1, 1);
    expect((all.handlingMs.p99 ?? 0) / 1000).toBeCloseTo(1, 1);
    expect((all.retryAfterSeconds.p50 ?? 0) / 60).toBeCloseTo(1, 0);
  });

  it('count the arrivals since then, and none again when it starts', () => {
    const { intake } = createBench({ concurrency: 1 });
    const first = startedNow(intake.admit());
    intake.admit();
    const observation = observe(intake);
    intake.admit();
    first.release();
    expect(observation.read().windows.oneMinute.all).toMatchObject({ arrivals: 1, completed: 1 });
    expect(observation.read().windows.oneMinute.all.waitMs.p50).toBe(0);
  });

  it('count each delivery of a dry run once', () => {
    const { intake } = createBench({ ...SHED_OFF, dryRun: true, concurrency: 1 });
    const observation = observe(intake);
    intake.admit({ key: 'off' });
    intake.admit();
    intake.admit();
    expect(observation.read().windows.oneMinute.all).toMatchObject({ arrivals: 3, refused: 1 });
  });
});

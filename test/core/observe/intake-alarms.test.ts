import {
  type AlarmCode,
  type AlarmEvent,
  createIntake,
  type IntakeEvent,
  type IntakeOptions,
} from '@webhook-backpressure/core';
import { type Observation, observe } from '@webhook-backpressure/observe';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { createBench, occupy, seeded, startedNow, type Bench } from '../harness.ts';

interface ObservedBench extends Bench {
  readonly observation: Observation;
}

function observedBench(options: IntakeOptions = {}): ObservedBench {
  const bench = createBench(options);
  return { ...bench, observation: observe(bench.intake) };
}

function alarmsIn(events: readonly IntakeEvent[]): (AlarmEvent & { readonly at: number })[] {
  return events.flatMap((event) => (event.type === 'alarm' || event.type === 'alarm-cleared' ? [event] : []));
}

function changesIn(events: readonly IntakeEvent[]): string[] {
  return alarmsIn(events).map(({ type, code }) => `${type} ${code}`);
}

function raisedIn({ observation }: ObservedBench): AlarmCode[] {
  return observation.read().alarms.map(({ code }) => code);
}

/** Deliveries that are handled immediately, and deliveries that are refused. */
function receive({ intake }: Bench, accepted: number, refused: number): void {
  for (let count = 0; count < accepted; count += 1) startedNow(intake.admit()).release();
  for (let count = 0; count < refused; count += 1) intake.admit({ key: 'off' });
}

const SHED_OFF = { shed: { off: true } };

describe('the alarm of refused deliveries', () => {
  it('is raised above 5 % of five minutes, and cleared below half of that', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 95, 5);
    bench.clock.advance(5000);
    expect(raisedIn(bench)).toEqual([]);
    receive(bench, 0, 1);
    bench.clock.advance(5000);
    const [raised] = alarmsIn(bench.events);
    expect(raised).toMatchObject({ type: 'alarm', code: 'WBP_ALARM_REFUSED', threshold: 0.05, at: 10_000 });
    expect(raised?.value).toBeCloseTo(6 / 101);
    expect(raised?.message).toBe('5.9 % of the 101 deliveries of the last five minutes were refused.');
    expect(raised?.help).toMatch(/alarms\.md#wbp_alarm_refused$/);
    receive(bench, 100, 0);
    bench.clock.advance(60_000);
    expect(bench.observation.read().alarms).toMatchObject([
      { code: 'WBP_ALARM_REFUSED', value: 6 / 201, sinceMs: 60_000 },
    ]);
    receive(bench, 60, 0);
    bench.clock.advance(5000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_REFUSED', 'alarm-cleared WBP_ALARM_REFUSED']);
    expect(bench.observation.read().alarms).toEqual([]);
  });

  it('is not raised by a few deliveries', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 9, 10);
    bench.clock.advance(300_000);
    expect(alarmsIn(bench.events)).toEqual([]);
    receive(bench, 0, 20);
    bench.clock.advance(5000);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_REFUSED']);
  });

  it('is cleared when nothing has arrived for five minutes', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 0, 50);
    bench.clock.advance(299_000);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_REFUSED']);
    bench.clock.advance(6000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_REFUSED', 'alarm-cleared WBP_ALARM_REFUSED']);
  });
});

describe('the alarm of a growing queue', () => {
  it('is raised after ten minutes of growth, and cleared when the queue drains', () => {
    const bench = observedBench({ concurrency: 1, maxWaitMs: 86_400_000, maxHandlingMs: 86_400_000 });
    const permit = startedNow(bench.intake.admit());
    for (let second = 0; second < 1000; second += 1) {
      if (second % 2 === 0) bench.intake.admit();
      bench.clock.advance(1000);
    }
    const growing = alarmsIn(bench.events).find(({ code }) => code === 'WBP_ALARM_GROWING');
    expect(growing).toMatchObject({ type: 'alarm', threshold: 600_000 });
    expect(growing?.at).toBeGreaterThanOrEqual(600_000);
    expect(growing?.at).toBeLessThan(670_000);
    expect(growing?.message).toMatch(/^The queue has grown for 1[01] min, from \d+ to \d+ deliveries\.$/);
    void bench.intake.close({ timeoutMs: 0 });
    permit.release();
    expect(raisedIn(bench)).toEqual([]);
  });

  it('is raised although arrivals end the slices, and not the timer', () => {
    // The timer fires at multiples of 50 ms, and the slices end 7 ms after such a time.
    const clock = manualClock(7);
    const intake = createIntake({ clock, concurrency: 1, maxWaitMs: 86_400_000, maxHandlingMs: 86_400_000 });
    const events: IntakeEvent[] = [];
    intake.subscribe((event) => events.push(event));
    observe(intake);
    for (let second = 0; second < 700; second += 1) {
      intake.admit();
      clock.advance(1000);
    }
    expect(changesIn(events)).toContain('alarm WBP_ALARM_GROWING');
  });

  it('is not raised by bursts that drain', async () => {
    const bench = observedBench({ concurrency: 1, maxWaitMs: 60_000 });
    for (let minute = 0; minute < 30; minute += 1) {
      const admissions = Array.from({ length: 20 + minute * 5 }, () => bench.intake.admit());
      for (const admission of admissions) {
        if (!admission.admitted) throw new Error('refused');
        const permit = await admission.permit;
        bench.clock.advance(100);
        if (permit.admitted) permit.release();
      }
      bench.clock.advance(60_000 - admissions.length * 100);
    }
    expect(changesIn(bench.events)).toEqual([]);
  });
});

describe('the alarm of stalled workers', () => {
  it('is raised while no delivery completes, and cleared 30 s after one has', () => {
    const bench = observedBench({ concurrency: 2, maxHandlingMs: 600_000 });
    const permits = occupy(bench.intake);
    bench.clock.advance(20_000);
    expect(alarmsIn(bench.events)).toMatchObject([
      { type: 'alarm', code: 'WBP_ALARM_STALLED', threshold: 10_000, at: 15_000 },
    ]);
    bench.clock.advance(100_000);
    expect(bench.observation.read().alarms).toMatchObject([{ value: 120_000, sinceMs: 105_000 }]);
    for (const permit of permits) permit.release();
    bench.clock.advance(29_000);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_STALLED']);
    bench.clock.advance(11_000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_STALLED', 'alarm-cleared WBP_ALARM_STALLED']);
  });

  it('stays raised when they stall again within 30 s', () => {
    const bench = observedBench({ concurrency: 1, maxHandlingMs: 600_000 });
    let permit = startedNow(bench.intake.admit());
    for (let stall = 0; stall < 5; stall += 1) {
      bench.clock.advance(20_000);
      // An interrupted handler does not teach that deliveries take this long.
      expect(permit.signal.aborted).toBe(false);
      permit.abort();
      permit.release();
      permit = startedNow(bench.intake.admit());
    }
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_STALLED']);
  });
});

describe('the alarm of deliveries that may be lost', () => {
  it('is raised by one, refused on arrival or later, and cleared after five minutes', () => {
    const bench = observedBench({ ...SHED_OFF, concurrency: 1, maxWaitMs: 5000 });
    bench.intake.admit({ key: 'off', retries: false });
    bench.clock.advance(5000);
    expect(alarmsIn(bench.events)).toMatchObject([
      { type: 'alarm', code: 'WBP_ALARM_LOSS_RISK', value: 1, threshold: 1 },
    ]);
    bench.clock.advance(300_000);
    expect(raisedIn(bench)).toEqual([]);
    const permit = startedNow(bench.intake.admit());
    bench.intake.admit({ retries: false });
    bench.clock.advance(10_000);
    expect(bench.intake.snapshot().totals.withdrawn.expired).toBe(1);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_LOSS_RISK']);
    permit.release();
  });
});

describe('the alarm of an endangered sender', () => {
  it('is raised although nothing is handled any more, and cleared by better answers', () => {
    const bench = observedBench();
    const match = { header: 'x-shop' };
    const facts = { source: 'https://shop.example', verifiedAt: '2026-01-01' };
    const profile: SenderProfile = { name: 'shop', match, switchOff: { inARow: 8 }, ...facts };
    for (let count = 0; count < 6; count += 1) startedNow(bench.intake.admit({ profile })).release('failure');
    bench.clock.advance(5000);
    expect(alarmsIn(bench.events)).toMatchObject([
      { code: 'WBP_ALARM_ENDANGERED', value: 1, message: '1 sender is close to disabling the endpoint.' },
    ]);
    bench.clock.advance(3_600_000);
    expect(bench.clock.pending).toBe(0);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_ENDANGERED']);
    startedNow(bench.intake.admit({ profile })).release();
    expect(raisedIn(bench)).toEqual([]);
  });
});

describe('alarms', () => {
  it('are judged by a reading, and set no timer for an idle intake', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 50, 0);
    bench.observation.read();
    bench.clock.advance(5000);
    expect(bench.clock.pending).toBe(0);
    receive(bench, 0, 50);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_REFUSED']);
  });

  it('end with the intake, and are never raised again', async () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 0, 50);
    bench.clock.advance(5000);
    await bench.intake.close({ timeoutMs: 0 });
    expect(bench.clock.pending).toBe(0);
    expect(bench.events.slice(-2).map(({ type }) => type)).toEqual(['closed', 'alarm-cleared']);
    expect(bench.events.at(-1)).toMatchObject({
      message: 'This alarm was turned off, or its source was closed.',
    });
    receive(bench, 0, 50);
    expect(bench.observation.read().alarms).toEqual([]);
    expect(bench.observation.read().windows.fiveMinutes.all.refused).toBe(100);
    bench.clock.advance(300_000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_REFUSED', 'alarm-cleared WBP_ALARM_REFUSED']);
  });

  it('set no timer after the last one has ended', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 100, 100);
    while (bench.clock.advanceToNext());
    expect(bench.clock.pending).toBe(0);
    expect(bench.clock.now()).toBeLessThan(320_000);
    expect(raisedIn(bench)).toEqual([]);
  });

  it('set a timer for a later time, however short the rest of the slice is', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = seeded(seed);
      const clock = manualClock(random() * Math.PI);
      const intake = createIntake({ clock, ...SHED_OFF });
      let alarms = 0;
      intake.subscribe(({ type }) => {
        if (type === 'alarm') alarms += 1;
      });
      observe(intake);
      for (let count = 0; count < 60; count += 1) {
        intake.admit({ key: 'off' });
        clock.advance(random() * 100 * Math.PI);
      }
      let timers = 0;
      while (timers < 200 && clock.advanceToNext()) timers += 1;
      expect(alarms).toBe(1);
      expect(timers).toBeLessThan(150);
    }
  });

  it('end when the option turns them off, and are judged again when it turns them on', () => {
    const bench = observedBench(SHED_OFF);
    receive(bench, 0, 50);
    bench.clock.advance(5000);
    bench.observation.update({ alarms: { refusedRatio: false } });
    expect(raisedIn(bench)).toEqual([]);
    bench.observation.update({ alarms: { refusedRatio: 0.5 } });
    expect(bench.observation.read().alarms).toMatchObject([{ threshold: 0.5, value: 1 }]);
    bench.observation.update({ alarms: false });
    expect(bench.observation.read().alarms).toEqual([]);
    expect(bench.clock.pending).toBe(0);
    bench.observation.update({ alarms: {} });
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_REFUSED']);
    expect(bench.observation.read().alarms).toMatchObject([{ threshold: 0.05 }]);
  });

  it('allow a listener to do anything', () => {
    const { intake, clock, events, observation } = observedBench({ ...SHED_OFF, concurrency: 1 });
    let calls = 0;
    intake.subscribe(({ type }) => {
      if (type !== 'alarm') return;
      calls += 1;
      observation.read();
      startedNow(intake.admit()).release();
      void intake.close({ timeoutMs: 0 });
    });
    for (let count = 0; count < 50; count += 1) intake.admit({ key: 'off' });
    clock.advance(5000);
    expect(calls).toBe(1);
    expect(changesIn(events)).toEqual(['alarm WBP_ALARM_REFUSED', 'alarm-cleared WBP_ALARM_REFUSED']);
    expect(clock.pending).toBe(0);
  });
});

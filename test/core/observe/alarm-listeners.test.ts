import { observe } from '@webhook-backpressure/observe';
import type { Intake, IntakeEvent } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench } from '../harness.ts';

describe('a listener of alarms', () => {
  const turnOff = (intake: Intake): void => {
    observe(intake, { alarms: false });
  };
  const close = (intake: Intake): void => {
    void intake.close({ timeoutMs: 0 });
  };
  it.each([
    ['turns them off', turnOff, []],
    ['closes the intake', close, ['closed']],
  ] as const)('that %s leaves none raised for the next listener', (_, act, between) => {
    const { intake, clock } = createBench({ shed: { off: true } });
    intake.subscribe(({ type }) => {
      if (type === 'alarm') act(intake);
    });
    const heard: IntakeEvent[] = [];
    intake.subscribe((event) => heard.push(event));
    observe(intake);
    // Two alarms are due at the same time.
    for (let count = 0; count < 50; count += 1) intake.admit({ key: 'off', retries: false });
    heard.length = 0;
    clock.advance(5000);
    expect(heard.map((event) => ('code' in event ? `${event.type} ${event.code}` : event.type))).toEqual([
      'alarm WBP_ALARM_REFUSED',
      ...between,
      'alarm-cleared WBP_ALARM_REFUSED',
    ]);
    expect(observe(intake).read().alarms).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

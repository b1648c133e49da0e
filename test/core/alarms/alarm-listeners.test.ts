import type { Intake, IntakeEvent } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench } from '../harness.ts';

describe('a listener of alarms', () => {
  const turnOff = (intake: Intake): void => {
    intake.update({ alarms: false });
  };
  const close = (intake: Intake): void => {
    void intake.close({ timeoutMs: 0 });
  };
  it.each([
    ['turns them off', turnOff, 'updated'],
    ['closes the intake', close, 'closed'],
  ] as const)('that %s leaves none raised for the next listener', (_, act, last) => {
    const { intake, clock } = createBench({ shed: { off: true } });
    intake.subscribe(({ type }) => {
      if (type === 'alarm') act(intake);
    });
    const heard: IntakeEvent[] = [];
    intake.subscribe((event) => heard.push(event));
    // Two alarms are due at the same time.
    for (let count = 0; count < 50; count += 1) intake.admit({ key: 'off', retries: false });
    heard.length = 0;
    clock.advance(5000);
    expect(heard.map((event) => ('code' in event ? `${event.type} ${event.code}` : event.type))).toEqual([
      'alarm WBP_ALARM_REFUSED',
      'alarm-cleared WBP_ALARM_REFUSED',
      last,
    ]);
    expect(intake.snapshot().alarms).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

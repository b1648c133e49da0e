import { createIntake, type Intake } from '@webhook-backpressure/core';
import { logEvents, observe } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { createBench } from '../harness.ts';
import { recordingLogger } from '../logs/recording-logger.ts';

describe('observe()', () => {
  it('returns the same observation each time, and changes the options that are given', () => {
    const { intake } = createBench({ shed: { off: true } });
    const observation = observe(intake, { alarms: { lossRisk: false } });
    for (let count = 0; count < 30; count += 1) intake.admit({ key: 'off', retries: false });
    expect(observation.read().alarms.map(({ code }) => code)).toEqual(['WBP_ALARM_REFUSED']);
    expect(observe(intake)).toBe(observation);
    expect(observation.read().alarms.map(({ code }) => code)).toEqual(['WBP_ALARM_REFUSED']);
    observe(intake, { alarms: false });
    expect(observation.read().alarms).toEqual([]);
    expect(observation.read().windows.oneMinute.all.arrivals).toBe(30);
  });

  it('keeps the thresholds that an update does not name', () => {
    const { intake } = createBench({ shed: { off: true } });
    const observation = observe(intake, { alarms: { minArrivals: 100 } });
    observation.update({ alarms: { refusedRatio: 0.5 } });
    for (let count = 0; count < 99; count += 1) intake.admit({ key: 'off' });
    expect(observation.read().alarms).toEqual([]);
    intake.admit({ key: 'off' });
    expect(observation.read().alarms).toMatchObject([{ threshold: 0.5 }]);
  });

  it.each([
    ['a middleware', { intake: createIntake() }],
    ['another object', { admit: () => undefined }],
    ['nothing', undefined],
  ])('rejects %s', (_, given) => {
    expect(() => observe(given as unknown as Intake)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_OBSERVE' }),
    );
  });

  it('rejects unknown options and no object', () => {
    const code = 'ERR_WBP_UNKNOWN_OPTION';
    expect(() => observe(createIntake(), { alarm: false } as object)).toThrow(
      expect.objectContaining({ code }),
    );
    expect(() => observe(createIntake(), 'off' as never)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_OBSERVE' }),
    );
  });

  it('raises alarms for a log of the intake', () => {
    const { intake, clock } = createBench({ shed: { off: true } });
    const { lines, logger } = recordingLogger();
    logEvents(intake, logger, { clock });
    for (let count = 0; count < 30; count += 1) intake.admit({ key: 'off' });
    clock.advance(5000);
    const codes = lines.flatMap(({ fields }) => (fields.event === 'alarm' ? [fields['code']] : []));
    expect(codes).toEqual(['WBP_ALARM_REFUSED']);
  });
});

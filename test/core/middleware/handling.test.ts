import { describe, expect, it, vi } from 'vitest';
import { manualClock } from '@webhook-backpressure/core/testing';
import { control, handled, POST } from './admission-controls.ts';
import { reactions } from '../harness.ts';

describe('a delivery in the hands of its handler', () => {
  it('has facts that can be logged, and tools that can be taken out of it', async () => {
    const handling = handled(control(), POST);
    expect(Object.keys(handling)).toEqual(['key', 'sender', 'id', 'waitedMs']);
    const { waitUntil, signal } = handling;
    expect(signal.aborted).toBe(false);
    waitUntil(Promise.resolve());
    await reactions();
  });

  it("has waited for its body: so much less of its sender's time is left", () => {
    const clock = manualClock();
    const guarding = control({ concurrency: 1, clock, delivery: () => ({ maxWaitMs: 2000 }) });
    handled(guarding, POST);
    const late = guarding.admit(guarding.read(POST), 1500);
    expect(late).toMatchObject({ admitted: true });
    clock.advance(600);
    expect(guarding.intake.snapshot().totals.withdrawn.expired).toBe(1);
  });

  it('ends once, in whatever order its parts end', () => {
    for (const parts of [
      ['handler', 'response'],
      ['response', 'handler'],
      ['cut', 'handler', 'response'],
      ['handler', 'cut', 'cut'],
    ]) {
      const guarding = control();
      const handling = handled(guarding, POST);
      const over = vi.fn();
      handling.whenOver(over);
      for (const part of parts) {
        if (part === 'handler') handling.endHandler();
        else if (part === 'response') handling.endResponse('success');
        else handling.cutOff();
      }
      expect(over).toHaveBeenCalledOnce();
      const { active, totals } = guarding.intake.snapshot();
      expect([active, totals.completed, totals.failed]).toEqual(
        parts.includes('cut') ? [0, 0, 1] : [0, 1, 0],
      );
    }
  });

  it('can read its signal after its end', () => {
    const handling = handled(control(), POST);
    handling.endHandler();
    handling.endResponse('success');
    expect(handling.signal.aborted).toBe(false);
    handling.waitUntil(Promise.resolve());
  });
});

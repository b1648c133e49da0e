import { memoryStore } from '@webhook-backpressure/inbox';
import { Scheduler, StoreHealth } from '@webhook-backpressure/inbox/store';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { Disabling } from '../../../packages/sender/src/dispatch/disabling.ts';
import { SenderReport } from '../../../packages/sender/src/watch/sender-report.ts';

function disabling(): { disabling: Disabling; changed: string[] } {
  const clock = manualClock();
  const now = (): number => clock.now();
  const report = new SenderReport(now);
  const health = new StoreHealth(new Scheduler(clock, now), report);
  const changed: string[] = [];
  const parts = { store: memoryStore(), health, report, now, changed: (id: string) => changed.push(id) };
  return { disabling: new Disabling(parts), changed };
}

describe('the disabled endpoints that the store lists', () => {
  it('lack one that this process has just disabled, until they contain it', () => {
    const { disabling: of } = disabling();
    of.disable('a', 'gone');
    of.learn([]);
    expect(of.reasonOf('a')).toBe('gone');
    of.learn(['wbp-disabled:gone:a']);
    expect(of.reasonOf('a')).toBe('gone');
    // Another process has enabled it.
    of.learn([]);
    expect(of.reasonOf('a')).toBeUndefined();
  });

  it('are distinguished from paused ones, also with colons in the id', () => {
    const { disabling: of, changed } = disabling();
    const paused = of.learn(['b', 'wbp-disabled:failing:x:y', 'wbp-disabled:other:z']);
    expect([...paused]).toEqual(['b', 'wbp-disabled:other:z']);
    expect(of.reasonOf('x:y')).toBe('failing');
    expect(changed).toEqual(['x:y']);
  });
});

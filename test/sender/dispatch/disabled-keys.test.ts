import { memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { Stops } from '../../../packages/sender/src/dispatch/stops.ts';
import { settle } from '../../../packages/sender/src/options/sender-options.ts';
import { SenderContext } from '../../../packages/sender/src/outbox/sender-context.ts';

function stops(): { stops: Stops; changed: (string | null)[] } {
  const settings = settle({ store: memoryStore(), endpoint: () => null, clock: manualClock() });
  const changed: (string | null)[] = [];
  return { stops: new Stops(new SenderContext(settings), (id) => changed.push(id)), changed };
}

describe('the disabled endpoints that the store lists', () => {
  it('lack one that this process has just disabled, until they contain it', () => {
    const { stops: of } = stops();
    of.disable('a', 'gone');
    of.learn([], false);
    expect(of.reasonOf('a')).toBe('gone');
    of.learn(['wbp-disabled:gone:a'], false);
    expect(of.reasonOf('a')).toBe('gone');
    // Another process has enabled it.
    of.learn([], false);
    expect(of.reasonOf('a')).toBeUndefined();
  });

  it('are distinguished from paused ones, also with colons in the id', () => {
    const { stops: of, changed } = stops();
    of.learn(['b', 'wbp-disabled:failing:x:y', 'wbp-disabled:other:z'], false);
    expect(['b', 'wbp-disabled:other:z', 'x:y'].map((id) => of.isPaused(id))).toEqual([true, true, false]);
    expect(of.reasonOf('x:y')).toBe('failing');
    expect(changed).toEqual(['x:y', 'b', 'wbp-disabled:other:z']);
  });
});

import { describe, expect, it } from 'vitest';
import { TimeLimit } from '@webhook-backpressure/base';

/** A clock whose timers run on command, however late that is. */
class LateClock {
  nowMs = 0;
  readonly timers: (() => void)[] = [];

  now = (): number => this.nowMs;

  setTimeout = (callback: () => void): unknown => this.timers.push(callback);

  clearTimeout = (): void => {
    this.timers.length = 0;
  };

  fire(atMs: number): void {
    this.nowMs = atMs;
    for (const timer of this.timers.splice(0)) timer();
  }
}

describe('a time limit', () => {
  function limited(): { clock: LateClock; limit: TimeLimit<string>; over: string[] } {
    const clock = new LateClock();
    const over: string[] = [];
    return { clock, over, limit: new TimeLimit<string>(5000, (item) => over.push(item), clock) };
  }

  it('ends for each item after its own time', () => {
    const { clock, limit, over } = limited();
    limit.start('a');
    clock.nowMs = 2000;
    limit.start('b');
    clock.fire(5000);
    expect(over).toEqual(['a']);
    clock.fire(7000);
    expect(over).toEqual(['a', 'b']);
  });

  it('gives data that arrived during a standstill one more turn to be read', () => {
    const { clock, limit, over } = limited();
    limit.start('read meanwhile');
    limit.start('late');
    clock.fire(10_600);
    expect(over).toEqual([]);
    limit.stop('read meanwhile');
    clock.fire(10_601);
    expect(over).toEqual(['late']);
  });

  it('gives no second turn if the standstill continues', () => {
    const { clock, limit, over } = limited();
    limit.start('late');
    clock.fire(10_600);
    clock.fire(14_000);
    expect(over).toEqual(['late']);
  });
});

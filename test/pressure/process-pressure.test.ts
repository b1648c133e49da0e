import { AsyncLocalStorage } from 'node:async_hooks';
import { createIntake, type Delivery } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { processPressure, type ProcessPressure } from '@webhook-backpressure/node';
import { beforeEach, describe, expect, it } from 'vitest';
import { seeded } from '../core/harness.ts';
import { FakeRuntime, watch, type Load } from './fake-runtime.ts';

const WINDOW_MS = 500;
const DAY_MS = 86_400_000;

const HEALTHY: Load = { delayMs: 30, utilization: 0.85 };

let clock: ManualClock;
let runtime: FakeRuntime;
let pressure: ProcessPressure;

beforeEach(() => {
  clock = manualClock();
  runtime = new FakeRuntime(clock);
  pressure = watch(clock, runtime);
});

/** Whether there is pressure after each of `count` windows under this load. */
function windows(count: number, load?: Load): boolean[] {
  if (load !== undefined) runtime.be(load);
  return Array.from({ length: count }, () => {
    clock.advance(WINDOW_MS);
    return pressure();
  });
}

function flips(states: readonly boolean[]): number {
  return states.filter((state, index) => index > 0 && state !== states[index - 1]).length;
}

describe('processPressure', () => {
  it('measures nothing before the first call', () => {
    expect([clock.pending, runtime.watching]).toEqual([0, 0]);
    expect(pressure()).toBe(false);
    expect(pressure.readings()).toBeNull();
    expect([clock.pending, runtime.watching]).toEqual([1, 2]);
  });

  it('has one timer, regardless of the number of calls', () => {
    for (let i = 0; i < 1000; i += 1) pressure();
    windows(20, { delayMs: 300 });
    expect([clock.pending, runtime.watching]).toEqual([1, 2]);
  });

  it('runs in the async context of its creation, not of the first request', () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const setTimeout = clock.setTimeout.bind(clock);
    clock.setTimeout = (callback, ms) => {
      seen.push(context.getStore());
      return setTimeout(callback, ms);
    };
    context.run('first request', () => pressure());
    windows(2);
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it('frees everything when it is closed, and does not start again', () => {
    pressure();
    expect(windows(2, { delayMs: 300 })).toEqual([false, true]);
    pressure.close();
    pressure.close();
    expect([clock.pending, runtime.watching]).toEqual([0, 0]);
    expect(pressure()).toBe(false);
    expect(pressure.readings()).toBeNull();
    expect([clock.pending, runtime.watching]).toEqual([0, 0]);
  });

  it('never starts when it is closed before the first call', () => {
    pressure.close();
    expect(pressure()).toBe(false);
    expect([clock.pending, runtime.watching]).toEqual([0, 0]);
  });

  it('does not try again when the runtime cannot measure', () => {
    let starts = 0;
    runtime.watchDelay = () => {
      starts += 1;
      throw new Error('not here');
    };
    expect(pressure).toThrow('not here');
    expect(pressure()).toBe(false);
    expect(starts).toBe(1);
  });
});

describe('pressure', () => {
  beforeEach(() => {
    pressure();
  });

  it.each<[string, Load]>([
    ['a delay above 200 ms', { delayMs: 201 }],
    ['a utilization above 0.98', { utilization: 0.99 }],
  ])('begins after two windows with %s', (_name, load) => {
    expect(windows(3, load)).toEqual([false, true, true]);
  });

  it('does not begin at the limits, nor in a busy service', () => {
    expect(windows(100, { delayMs: 200, utilization: 0.97 })).not.toContain(true);
    expect(windows(100, HEALTHY)).not.toContain(true);
  });

  it('ends after two windows at or below 90 % of each limit', () => {
    windows(2, { delayMs: 300, utilization: 1 });
    expect(windows(20, { delayMs: 181 })).not.toContain(false);
    expect(windows(20, { utilization: 0.89 })).not.toContain(false);
    expect(windows(3, { delayMs: 180, utilization: 0.88 })).toEqual([true, false, false]);
  });

  it('ignores a window that the next one does not confirm', () => {
    for (let i = 0; i < 10; i += 1) {
      expect(windows(1, { delayMs: 300 })).toEqual([false]);
      expect(windows(1, { delayMs: 190 })).toEqual([false]);
    }
    windows(2, { delayMs: 300 });
    for (let i = 0; i < 10; i += 1) {
      expect(windows(1, { delayMs: 10 })).toEqual([true]);
      expect(windows(1, { delayMs: 190 })).toEqual([true]);
    }
  });

  it('has the measurements of the last window', () => {
    windows(1, { delayMs: 12, utilization: 0.25 });
    expect(pressure.readings()).toEqual({
      eventLoopDelayMs: 12,
      eventLoopUtilization: 0.25,
      heapFraction: null,
    });
  });
});

describe('a blocked event loop', () => {
  it.each([1000, 10_000, 600_000])('is no pressure after a single block of %i ms', (ms) => {
    pressure();
    windows(3, HEALTHY);
    clock.advance(WINDOW_MS / 3);
    runtime.block(ms);
    expect(windows(20)).not.toContain(true);
  });

  it('is pressure after a second block, until two calm windows have passed', () => {
    pressure();
    const states = [1, 2].map(() => {
      runtime.block(1000);
      clock.advanceToNext();
      return pressure();
    });
    expect(states).toEqual([false, true]);
    expect(windows(4, HEALTHY)).toEqual([true, false, false, false]);
  });
});

describe('a long idle time', () => {
  it('does not hide a burst', () => {
    pressure();
    runtime.be({ utilization: 0.001 });
    clock.advance(DAY_MS);
    expect(windows(2, { utilization: 1 })).toEqual([false, true]);
    expect(windows(2, { utilization: 0.001 })).toEqual([true, false]);
  });

  it('is ignored before the first delivery', () => {
    runtime.be({ utilization: 0.001 });
    clock.advance(DAY_MS);
    pressure();
    expect(windows(2, { utilization: 1 })).toEqual([false, true]);
  });
});

describe('flapping', () => {
  const TWO_SECONDS = 2000 / WINDOW_MS;

  beforeEach(() => {
    pressure();
  });

  it('is limited when the load depends on whether it is refused', () => {
    const states: boolean[] = [];
    for (let i = 0; i < 1000; i += 1) states.push(...windows(1, { delayMs: pressure() ? 5 : 400 }));
    expect(states).toContain(true);
    for (let at = 0; at + TWO_SECONDS <= states.length; at += 1) {
      expect(flips(states.slice(at, at + TWO_SECONDS))).toBeLessThanOrEqual(2);
    }
  });

  it('is not caused by readings that scatter around a limit', () => {
    const random = seeded(7);
    const scattered = (): Load => ({ delayMs: 200 + 15 * (random() - 0.5) });
    const states = Array.from({ length: 1000 }, () => windows(1, scattered())).flat();
    expect(states).toContain(true);
    expect(flips(states)).toBe(1);
  });
});

describe('heap pressure', () => {
  beforeEach(() => {
    pressure();
    runtime.be(HEALTHY);
  });

  it('begins when full collections leave more than 0.85 of the limit in use', () => {
    runtime.collect(0.85);
    expect(windows(2)).toEqual([false, false]);
    runtime.collect(0.9);
    expect(windows(2)).toEqual([false, true]);
    runtime.collect(0.77);
    expect(windows(2)).toEqual([true, true]);
    runtime.collect(0.5);
    expect(windows(2)).toEqual([true, false]);
    expect(pressure.readings()?.heapFraction).toBe(0.5);
  });

  it('ends when there was no full collection for ten seconds, since a refusing process hardly allocates', () => {
    runtime.collect(0.95);
    expect(windows(19)).toEqual([false, ...Array<boolean>(18).fill(true)]);
    expect(windows(2)).toEqual([true, false]);
    expect(pressure.readings()?.heapFraction).toBeNull();
  });
});

describe('a limit of 1', () => {
  it('switches a signal off, which then does not prolong the pressure of another one', () => {
    pressure = watch(clock, runtime, { maxEventLoopUtilization: 1, maxHeapFraction: 1 });
    pressure();
    runtime.collect(1);
    expect(windows(4, { utilization: 1 })).not.toContain(true);
    expect(windows(2, { delayMs: 300, utilization: 1 })).toEqual([false, true]);
    runtime.collect(1);
    expect(windows(2, { utilization: 1 })).toEqual([true, false]);
  });
});

describe('custom limits and windows', () => {
  it('are used', () => {
    const windowMs = 2000;
    pressure = watch(clock, runtime, { maxEventLoopDelayMs: 50, windowMs });
    pressure();
    runtime.be({ delayMs: 51 });
    clock.advance(2 * windowMs - 1);
    expect(pressure()).toBe(false);
    clock.advance(1);
    expect(pressure()).toBe(true);
  });
});

describe('an intake under pressure', () => {
  const ordinary: Delivery = {};

  it('refuses deliveries that may not use the reserve with 503, and recovers', () => {
    const intake = createIntake({ clock, pressure });
    const admits = (delivery: Delivery): boolean => {
      const result = intake.admit(delivery);
      if (result.admitted && !(result.permit instanceof Promise)) result.permit.release();
      return result.admitted;
    };
    expect(admits(ordinary)).toBe(true);
    windows(2, { delayMs: 300 });

    expect(intake.admit(ordinary)).toMatchObject({ admitted: false, reason: 'pressure', status: 503 });
    expect(admits({ priority: 'critical' })).toBe(true);
    expect(admits({ retries: false })).toBe(true);

    windows(2, HEALTHY);
    expect(admits(ordinary)).toBe(true);
    expect(intake.snapshot().totals.refused.pressure).toBe(1);
  });
});

describe('options', () => {
  it.each([
    [{ maxEventLoopDelayMs: 0 }, 'ERR_WBP_PRESSURE', 'a number of milliseconds from 1 to 60,000, but was 0.'],
    [{ maxEventLoopDelayMs: NaN }, 'ERR_WBP_PRESSURE', 'but was NaN.'],
    [{ maxEventLoopDelayMs: '200' }, 'ERR_WBP_PRESSURE', "but was '200'."],
    [{ maxEventLoopUtilization: 0 }, 'ERR_WBP_PRESSURE', 'a number above 0 and at most 1, but was 0.'],
    [{ maxEventLoopUtilization: 98 }, 'ERR_WBP_PRESSURE', 'but was 98.'],
    [{ maxHeapFraction: null }, 'ERR_WBP_PRESSURE', 'maxHeapFraction must be'],
    [{ windowMs: 99 }, 'ERR_WBP_PRESSURE', 'a number of milliseconds from 100 to 60,000, but was 99.'],
    [{ windowMs: Infinity }, 'ERR_WBP_PRESSURE', 'but was Infinity.'],
    [{ maxRss: 1 }, 'ERR_WBP_UNKNOWN_OPTION', 'Unknown option "maxRss". Known options: maxEventLoopDelayMs,'],
    [null, 'ERR_WBP_OPTIONS', 'options must be an object, but was null.'],
    [[], 'ERR_WBP_OPTIONS', 'but was an array of length 0.'],
  ])('%o throws %s', (options, code, message) => {
    const make = processPressure as (options: unknown) => ProcessPressure;
    expect(() => make(options)).toThrow(expect.objectContaining({ code }) as Error);
    expect(() => make(options)).toThrow(message);
  });

  it('are absent when they are undefined', () => {
    expect(() => processPressure({ windowMs: undefined, maxHeapFraction: undefined })).not.toThrow();
  });
});

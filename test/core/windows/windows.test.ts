import fc from 'fast-check';
import type { Percentiles, WindowFigures } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import type { Monitor } from '../../../packages/observe/src/alarms/monitor.ts';
import { measured } from './measured.ts';
import { figuresOf, type Logged } from './window-log.ts';

const SLICE_MS = 5000;

/** When the slices of a window that are not over yet have begun. */
function beginOf(slices: number, nowMs: number): number {
  return Math.floor(nowMs / SLICE_MS) * SLICE_MS - (slices - 1) * SLICE_MS;
}

function record(monitor: Monitor, { at, key, what, value }: Logged): void {
  if (what === 'arrival') monitor.arrived(key, undefined, at);
  else if (what === 'refusal') monitor.refused(key, undefined, value, at);
  else if (what === 'start') monitor.started(key, undefined, value, at);
  else monitor.ended(key, undefined, what === 'success', value, at);
}

function expectClose(found: Percentiles, exact: Percentiles): void {
  for (const name of ['p50', 'p99'] as const) {
    const [one, other] = [found[name], exact[name]];
    if (one === null || other === null) expect(one).toBe(other);
    else if (other < 1) expect(one).toBe(0);
    else expect(Math.abs(one - other) / other).toBeLessThan(0.06);
  }
}

function expectFigures(found: WindowFigures, exact: WindowFigures): void {
  const counts = ({ arrivals, refused, refusedRatio, completed, failed }: WindowFigures): object => ({
    arrivals,
    refused,
    refusedRatio,
    completed,
    failed,
  });
  expect(counts(found)).toEqual(counts(exact));
  expectClose(found.waitMs, exact.waitMs);
  expectClose(found.handlingMs, exact.handlingMs);
  expectClose(found.retryAfterSeconds, exact.retryAfterSeconds);
}

const step = fc.record({
  passedMs: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 0, max: 400 }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 700_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(5000, 55_000, 60_000, 295_000, 300_000) },
  ),
  key: fc.constantFrom('a', 'b', 'c'),
  what: fc.constantFrom('refusal', 'start', 'success', 'failure', 'arrival'),
  value: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 100_000, noNaN: true })),
}) satisfies fc.Arbitrary<Omit<Logged, 'at'> & { passedMs: number }>;

describe('the windows', () => {
  it('have the counts and percentiles of the events in their slices', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 300 }), (steps) => {
        const { monitor, read } = measured();
        const log: Logged[] = [];
        let at = 0;
        for (const { passedMs, key, what, value } of steps) {
          at += passedMs;
          // A key has figures from its first arrival on.
          const events: Logged[] = [
            { at, key, what: 'arrival', value: 0 },
            ...(what === 'arrival' ? [] : [{ at, key, what, value }]),
          ];
          for (const event of events) record(monitor, event);
          log.push(...events);
        }
        const windows = read(at);
        const ended = log.filter((event) => event.at >= beginOf(2, at) && event.at < beginOf(1, at));
        expectFigures(windows.lastSlice, figuresOf(ended));
        for (const [name, slices] of [
          ['oneMinute', 12],
          ['fiveMinutes', 60],
        ] as const) {
          const inside = log.filter((event) => event.at >= beginOf(slices, at));
          expectFigures(windows[name].all, figuresOf(inside));
          for (const figures of windows[name].keys) {
            expectFigures(figures, figuresOf(inside.filter(({ key }) => key === figures.name)));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('distinguish the slowest hundredth from the slowest twentieth', () => {
    const { monitor, read } = measured();
    for (let count = 0; count < 1000; count += 1) monitor.started('a', undefined, count < 985 ? 10 : 1000, 0);
    const { p50, p99 } = read(0).oneMinute.all.waitMs;
    expect([(p50 ?? 0) / 10, (p99 ?? 0) / 1000].map(Math.round)).toEqual([1, 1]);
    for (let count = 0; count < 1000; count += 1) monitor.started('a', undefined, 10, 0);
    expect(Math.round((read(0).oneMinute.all.waitMs.p99 ?? 0) / 10)).toBe(1);
  });

  it('say how much of them has been measured', () => {
    const { read } = measured(1000);
    expect(read(1000).oneMinute.seconds).toBe(0);
    expect(read(13_500).oneMinute.seconds).toBe(12.5);
    const { oneMinute, fiveMinutes } = read(1_000_999);
    expect(oneMinute.seconds).toBeCloseTo(59.999, 3);
    expect(fiveMinutes.seconds).toBeCloseTo(299.999, 3);
  });

  it('are empty when nothing has happened for longer than they last', () => {
    const { monitor, read } = measured();
    for (let at = 0; at < 60_000; at += 100) monitor.arrived('a', 'github', at);
    expect(read(59_999).fiveMinutes.all.arrivals).toBe(600);
    expect(read(120_000).oneMinute.all.arrivals).toBe(0);
    expect(read(120_000).fiveMinutes.keys).toHaveLength(1);
    const { fiveMinutes } = read(86_400_000);
    expect(fiveMinutes.all).toEqual(figuresOf([]));
    expect([...fiveMinutes.keys, ...fiveMinutes.senders]).toEqual([]);
  });

  it('count a slice that is not over', () => {
    const { monitor, read } = measured();
    monitor.arrived('a', undefined, 0);
    expect(read(0).oneMinute.all.arrivals).toBe(1);
  });

  it('list recognized senders apart from keys', () => {
    const { monitor, read } = measured();
    monitor.arrived('tenant-1', 'stripe', 0);
    monitor.arrived('tenant-2', 'stripe', 0);
    monitor.arrived('tenant-2', undefined, 0);
    monitor.refused('tenant-2', 'stripe', 30, 0);
    const { keys, senders } = read(0).oneMinute;
    expect(keys.map(({ name, arrivals }) => [name, arrivals])).toEqual([
      ['tenant-2', 2],
      ['tenant-1', 1],
    ]);
    expect(senders.map(({ name, arrivals, refused }) => [name, arrivals, refused])).toEqual([
      ['stripe', 2, 1],
    ]);
  });
});

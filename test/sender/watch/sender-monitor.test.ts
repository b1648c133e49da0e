import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { Listeners } from '@webhook-backpressure/core/extend';
import type { OutboxEvent } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import {
  OUTBOX_ALARM_DEFAULTS,
  type OutboxAlarmSettings,
} from '../../../packages/observe/src/alarms/alarm-options.ts';
import { OutboxMonitor } from '../../../packages/observe/src/outbox/outbox-monitor.ts';

/** A monitor of a made-up sender. */
class Bench {
  readonly clock: ManualClock = manualClock();
  readonly queued = new Map<string, number>();
  readonly heard: string[] = [];
  readonly listeners = new Listeners<OutboxEvent>();
  storeFailingMs = 0;
  readonly monitor: OutboxMonitor;

  constructor(settings: Partial<OutboxAlarmSettings> | false = {}) {
    this.monitor = new OutboxMonitor(
      {
        kind: 'outbox',
        isOpen: () => true,
        measure: () => undefined,
        clock: this.clock,
        now: () => this.clock.now(),
        depth: () => [...this.queued.values()].reduce((sum, count) => sum + count, 0),
        storeFailingMs: () => this.storeFailingMs,
        queuedOf: (endpoint) => this.queued.get(endpoint) ?? 0,
        forEachQueued: (action) => {
          for (const [endpoint, count] of this.queued) action(endpoint, count);
        },
        report: (at, event) => {
          this.listeners.emit(at, event);
        },
      },
      () => settings !== false && { ...OUTBOX_ALARM_DEFAULTS, ...settings },
    );
  }

  listen(): void {
    this.listeners.add((event) => {
      if ('code' in event && 'endpoint' in event) {
        this.heard.push(`${event.type} ${event.code} ${event.endpoint ?? 'all'}`);
      }
    });
  }

  attempt(endpoint: string, how: 'delivered' | 'limited' | 'failed', latencyMs = 100): void {
    const nowMs = this.clock.now();
    this.monitor.started(endpoint, nowMs);
    if (how === 'delivered') this.monitor.delivered(endpoint, 1, latencyMs, 20, nowMs);
    else this.monitor.ended(endpoint, how, 20, nowMs);
  }

  get codes(): string[] {
    return this.monitor
      .alarms(this.clock.now())
      .map(({ code, endpoint }) => `${code.slice(10)} ${endpoint ?? 'all'}`);
  }
}

describe('the figures of an endpoint', () => {
  it('count the attempts of the last five minutes by their outcome', () => {
    const bench = new Bench();
    for (const how of ['delivered', 'limited', 'limited', 'failed'] as const) bench.attempt('a', how);
    bench.monitor.delivered('a', 10, 100, 20, 0);
    bench.attempt('b', 'failed');
    expect(bench.monitor.window('a', 0)).toMatchObject({
      attempts: 4,
      limited: 2,
      limitedRatio: 0.5,
      failed: 1,
      delivered: 11,
    });
    expect(bench.monitor.window('b', 0)).toMatchObject({ attempts: 1, limited: 0, failed: 1 });
    bench.clock.advance(300_000);
    expect(bench.monitor.window('a', bench.clock.now())).toMatchObject({ attempts: 0, delivered: 0 });
  });

  it('measure latency and requests to 6 %', () => {
    const bench = new Bench();
    for (let count = 0; count < 98; count += 1) bench.attempt('a', 'delivered', 1000);
    for (let count = 0; count < 2; count += 1) bench.attempt('a', 'delivered', 60_000);
    const { latencyMs, meanLatencyMs, requestMs } = bench.monitor.window('a', 0);
    expect(near(latencyMs.p50, 1000)).toBe(true);
    expect(near(latencyMs.p99, 60_000)).toBe(true);
    expect(near(meanLatencyMs, (98 * 1000 + 2 * 60_000) / 100)).toBe(true);
    expect(near(requestMs.p50, 20)).toBe(true);
    expect(bench.monitor.window('unknown', 0)).toMatchObject({ attempts: 0, meanLatencyMs: null });
  });

  it('are those of the busiest thousand, whatever number there is', () => {
    const bench = new Bench();
    for (let round = 0; round < 3; round += 1) bench.attempt('busy', 'delivered');
    for (let id = 0; id < 5000; id += 1) bench.attempt(`ep_${String(id)}`, 'delivered');
    for (let round = 0; round < 20; round += 1) bench.attempt('busiest', 'delivered');
    const busiest = bench.monitor.busiest(0);
    expect(busiest[0]).toBe('busiest');
    expect(busiest.length).toBeLessThanOrEqual(1000);
  });
});

describe('the alarms of a sender', () => {
  it('name the endpoint that asked to wait after more than 5 % of at least 20 attempts', () => {
    const bench = new Bench();
    bench.listen();
    for (let count = 0; count < 19; count += 1) bench.attempt('a', count === 0 ? 'limited' : 'delivered');
    for (let count = 0; count < 40; count += 1) bench.attempt('b', count < 2 ? 'limited' : 'delivered');
    for (let count = 0; count < 40; count += 1) bench.attempt('c', count < 3 ? 'limited' : 'delivered');
    bench.clock.advance(5000);
    expect(bench.heard).toEqual(['alarm WBP_ALARM_LIMITED c']);
    bench.attempt('a', 'delivered');
    bench.attempt('a', 'limited');
    expect(bench.codes).toEqual(['LIMITED c', 'LIMITED a']);
    bench.clock.advance(300_000);
    expect(bench.heard.slice(1)).toEqual([
      'alarm WBP_ALARM_LIMITED a',
      'alarm-cleared WBP_ALARM_LIMITED c',
      'alarm-cleared WBP_ALARM_LIMITED a',
    ]);
    expect(bench.clock.pending).toBe(0);
  });

  it('report more than 100 queued events, also of an endpoint without attempts, until half of them are left', () => {
    const bench = new Bench();
    bench.listen();
    bench.queued.set('paused', 100).set('busy', 10);
    bench.attempt('busy', 'delivered');
    bench.monitor.moved(0);
    bench.clock.advance(5000);
    expect(bench.heard).toEqual([]);
    bench.queued.set('paused', 101).set('busy', 500);
    bench.clock.advance(5000);
    expect(bench.heard.sort()).toEqual(['alarm WBP_ALARM_QUEUED busy', 'alarm WBP_ALARM_QUEUED paused']);
    bench.queued.set('paused', 51).set('busy', 50);
    expect(bench.codes).toEqual(['QUEUED paused']);
    bench.queued.clear();
    expect(bench.codes).toEqual([]);
  });

  it('report a mean latency above a minute', () => {
    const bench = new Bench();
    bench.attempt('a', 'delivered', 50_000);
    bench.attempt('b', 'delivered', 50_000);
    bench.attempt('b', 'delivered', 90_000);
    expect(bench.codes).toEqual(['LATENCY b']);
  });

  it('report dead letters, disabled endpoints, a failing store and growth of the whole sender', () => {
    const bench = new Bench();
    bench.listen();
    bench.monitor.lost('dead', 3, 0);
    bench.monitor.lost('disabled', 1, 0);
    bench.storeFailingMs = 10_000;
    bench.clock.advance(5000);
    expect(bench.codes.sort()).toEqual(['DEAD_LETTERS all', 'DISABLED all', 'STORE_FAILING all']);
    bench.storeFailingMs = 0;
    for (let minute = 1; minute <= 16; minute += 1) {
      bench.queued.set('a', minute);
      bench.monitor.moved(bench.clock.now());
      bench.clock.advance(60_000);
    }
    expect(bench.codes).toEqual(['GROWING all']);
  });

  it('are raised for at most 100 endpoints of the same kind', () => {
    const bench = new Bench();
    for (let id = 0; id < 300; id += 1) bench.queued.set(`ep_${String(id)}`, 1000);
    expect(bench.codes).toHaveLength(100);
    bench.queued.delete('ep_7');
    expect(bench.codes).toHaveLength(100);
    expect(bench.codes).not.toContain('QUEUED ep_7');
  });

  it('have thresholds, each of which can be turned off', () => {
    const bench = new Bench({ queued: 10, meanLatencyMs: false });
    bench.queued.set('a', 11);
    bench.attempt('b', 'delivered', 90_000);
    expect(bench.codes).toEqual(['QUEUED a']);
    const off = new Bench(false);
    off.listen();
    off.queued.set('a', 1000);
    off.monitor.moved(0);
    expect(off.codes).toEqual([]);
    expect(off.clock.pending).toBe(0);
  });

  it('end with the sender, and keep no timer', () => {
    const bench = new Bench();
    bench.listen();
    bench.queued.set('a', 101);
    bench.monitor.moved(0);
    bench.clock.advance(5000);
    bench.monitor.end(bench.clock.now());
    expect(bench.heard).toEqual(['alarm WBP_ALARM_QUEUED a', 'alarm-cleared WBP_ALARM_QUEUED a']);
    expect(bench.codes).toEqual([]);
    expect(bench.clock.pending).toBe(0);
  });

  it('are consistent for a listener that takes a snapshot at each', () => {
    const bench = new Bench();
    const seen: string[][] = [];
    bench.listeners.add(({ type }) => {
      if (type === 'alarm') seen.push(bench.codes);
    });
    bench.queued.set('a', 101).set('b', 101);
    bench.monitor.moved(0);
    bench.clock.advance(5000);
    expect(seen).toEqual([
      ['QUEUED a', 'QUEUED b'],
      ['QUEUED a', 'QUEUED b'],
    ]);
  });
});

function near(value: number | null, expected: number): boolean {
  return value !== null && Math.abs(value - expected) <= expected * 0.06;
}

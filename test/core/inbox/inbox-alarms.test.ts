import { type InboxEvent, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import type { AlarmCode } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from './inbox-bench.ts';
import { type InboxAlarmOptions, observe, type ObserveOptions } from '@webhook-backpressure/observe';

const MINUTE_MS = 60_000;

function observedBench(
  options: Partial<InboxOptions> = {},
  alarms: ObserveOptions<InboxAlarmOptions>['alarms'] = {},
): InboxBench {
  const bench = new InboxBench(options);
  observe(bench.inbox, { alarms });
  return bench;
}

function changesIn(events: readonly InboxEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'alarm' || event.type === 'alarm-cleared' ? [`${event.type} ${event.code}`] : [],
  );
}

function raisedIn({ inbox }: InboxBench): AlarmCode[] {
  return observe(inbox)
    .read()
    .alarms.map(({ code }) => code);
}

async function pass(bench: InboxBench, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5000) await bench.advance(5000);
}

describe('the alarms of an inbox', () => {
  it('report an old delivery, until the oldest is half as old', async () => {
    const bench = observedBench({ concurrency: 1, maxHandlingMs: 86_400_000 });
    await bench.deliver('evt_1');
    await pass(bench, 14 * MINUTE_MS);
    expect(raisedIn(bench)).not.toContain('WBP_ALARM_OLDEST_AGE');
    await pass(bench, 2 * MINUTE_MS);
    const raised = observe(bench.inbox)
      .read()
      .alarms.find(({ code }) => code === 'WBP_ALARM_OLDEST_AGE');
    expect(raised).toMatchObject({ threshold: 15 * MINUTE_MS });
    expect(raised?.message).toMatch(/^The oldest unfinished delivery was received 1[56] min ago\.$/);
    await bench.last.finish();
    await pass(bench, 10_000);
    expect(raisedIn(bench)).not.toContain('WBP_ALARM_OLDEST_AGE');
    expect(changesIn(bench.events)).toContain('alarm-cleared WBP_ALARM_OLDEST_AGE');
  });

  it('report dead letters for five minutes', async () => {
    const bench = observedBench({ retry: { attempts: 1 } });
    await bench.deliver('evt_1');
    await bench.last.fail();
    await pass(bench, 5000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_DEAD_LETTERS']);
    expect(observe(bench.inbox).read().alarms).toMatchObject([
      { value: 1, message: 'In the last five minutes 1 delivery became a dead letter.' },
    ]);
    await pass(bench, 5 * MINUTE_MS);
    expect(raisedIn(bench)).toEqual([]);
  });

  it('report deliveries that became dead letters because the inbox was full', async () => {
    const bench = observedBench({
      overflow: 'dead-letter',
      capacity: 1,
      highWaterMark: 1,
      lowWaterMark: 0.5,
    });
    await bench.deliver('evt_1');
    await bench.deliver('evt_2');
    expect(bench.inbox.snapshot().totals.overflow).toBe(1);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_DEAD_LETTERS']);
  });

  it('report a store that fails, until it has worked for 30 s', async () => {
    let isBroken = false;
    const store = memoryStore();
    for (const call of ['stats', 'put', 'claim'] as const) {
      const own = store[call].bind(store) as (...values: unknown[]) => unknown;
      const breakable = (...values: unknown[]): unknown => {
        if (isBroken) throw new Error('disk full');
        return own(...values);
      };
      Object.assign(store, { [call]: breakable });
    }
    const bench = observedBench({ store });
    await bench.deliver('evt_1');
    await bench.last.finish();
    // Nothing is stored, so no timer of the alarms runs.
    await pass(bench, 20_000);
    isBroken = true;
    await pass(bench, 30_000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_STORE_FAILING']);
    const [alarm] = observe(bench.inbox).read().alarms;
    expect(alarm?.value).toBeGreaterThanOrEqual(20_000);
    expect(alarm?.message).toMatch(/^Calls of the store have been failing for \d+ s\.$/);
    isBroken = false;
    await pass(bench, 20_000);
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_STORE_FAILING']);
    await pass(bench, 60_000);
    expect(changesIn(bench.events)).toEqual([
      'alarm WBP_ALARM_STORE_FAILING',
      'alarm-cleared WBP_ALARM_STORE_FAILING',
    ]);
  });

  it('do not report a store of which one call failed, and was not called again', async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    const bench = observedBench({ store });
    await pass(bench, 5000);
    store.put = () => {
      throw new Error('locked');
    };
    expect(await bench.deliver('evt_1')).toMatchObject({ status: 503 });
    store.put = put;
    await pass(bench, 60_000);
    expect(raisedIn(bench)).toEqual([]);
    expect(changesIn(bench.events)).toEqual([]);
  });

  it('report a backlog that grows for ten minutes', async () => {
    const bench = observedBench({ concurrency: 1 }, { stalledMs: false, oldestAgeMs: false });
    for (let step = 0; step < 150; step += 1) {
      await bench.deliver(`evt_${String(step)}`);
      await bench.advance(5000);
    }
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_GROWING']);
  });

  it('report stalled workers', async () => {
    const bench = observedBench({ concurrency: 1 });
    await bench.deliver('evt_1');
    await pass(bench, 20_000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_STALLED']);
    await bench.last.finish();
    await pass(bench, 40_000);
    expect(raisedIn(bench)).toEqual([]);
  });

  it('report refusals, and deliveries that may be lost', async () => {
    const bench = observedBench({ shed: { default: true, telegram: true } });
    for (let count = 0; count < 30; count += 1) await bench.send(undefined);
    await pass(bench, 5000);
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_REFUSED']);
    expect(observe(bench.inbox).read().windows.oneMinute.all).toMatchObject({ arrivals: 30, refused: 30 });
  });

  it('end when it closes', async () => {
    const bench = observedBench({ shed: { default: true } });
    for (let count = 0; count < 30; count += 1) await bench.send(undefined);
    await pass(bench, 5000);
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await turns();
    bench.clock.advance(5000);
    await closing;
    expect(changesIn(bench.events)).toEqual(['alarm WBP_ALARM_REFUSED', 'alarm-cleared WBP_ALARM_REFUSED']);
    expect(observe(bench.inbox).read().alarms).toEqual([]);
    expect(bench.clock.pending).toBe(0);
  });

  it('can be turned off and on while it runs', async () => {
    const bench = observedBench({ shed: { default: true } }, false);
    for (let count = 0; count < 30; count += 1) await bench.send(undefined);
    expect(raisedIn(bench)).toEqual([]);
    observe(bench.inbox).update({ alarms: { minArrivals: 30, deadLetters: 5 } });
    expect(raisedIn(bench)).toEqual(['WBP_ALARM_REFUSED']);
  });
});

describe('the windows of an inbox', () => {
  it('count what was decided, first waits, and every attempt', async () => {
    const bench = observedBench({ retry: { firstDelayMs: 5000 }, concurrency: 1 });
    await bench.deliver('evt_1', '{}', { 'x-github-event': 'push', 'x-github-delivery': 'a' });
    await bench.deliver('evt_1', '{}', { 'x-github-event': 'push', 'x-github-delivery': 'a' });
    await bench.advance(1000);
    await bench.last.fail();
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
    await bench.advance(2000);
    await bench.last.finish();
    const { all, keys, senders } = observe(bench.inbox).read().windows.oneMinute;
    expect(all).toMatchObject({ arrivals: 2, refused: 0, completed: 1, failed: 1 });
    // The second attempt waited for its retry, which is no wait for a worker.
    expect(all.waitMs).toEqual({ p50: 0, p99: 0 });
    expect((all.handlingMs.p50 ?? 0) / 1000).toBeCloseTo(1, 1);
    expect((all.handlingMs.p99 ?? 0) / 2000).toBeCloseTo(1, 1);
    expect([keys, senders].map(([first]) => [first?.name, first?.arrivals, first?.completed])).toEqual([
      ['github', 2, 1],
      ['github', 2, 1],
    ]);
  });

  it('do not count requests that no verified sender has made', async () => {
    const bench = observedBench({ verify: () => false });
    await bench.deliver('evt_1');
    expect(bench.inbox.snapshot().totals.unverified).toBe(1);
    expect(observe(bench.inbox).read().windows.oneMinute.all.arrivals).toBe(0);
  });

  it('count each delivery of a dry run once', async () => {
    const bench = observedBench({ dryRun: true, shed: { default: true } });
    await bench.deliver('evt_1');
    const { all } = observe(bench.inbox).read().windows.oneMinute;
    expect(all.arrivals).toBe(1);
    expect(all.refused).toBeGreaterThan(0);
    expect(all.refusedRatio).toBe(1);
  });
});

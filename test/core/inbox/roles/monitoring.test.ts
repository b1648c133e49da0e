import { logEvents, observe, readMetrics } from '@webhook-backpressure/observe';
import type { AlarmCode } from '@webhook-backpressure/core';
import type { Inbox } from '@webhook-backpressure/inbox';
import { dashboard } from '@webhook-backpressure/dashboard';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { post, problemOf, stateOf } from '../../../dashboard/fixtures.ts';
import { recordingLogger, type Line } from '../../logs/recording-logger.ts';
import { sumOf } from '../../metrics/samples.ts';
import { Tier } from './tier.ts';

let tier: Tier;
beforeEach(() => {
  tier = new Tier();
});
afterEach(() => tier.close());

const alarmsOf = (inbox: Inbox): AlarmCode[] =>
  observe(inbox)
    .read()
    .alarms.map(({ code }) => code);

function logOf(inbox: Inbox): Line[] {
  const { lines, logger } = recordingLogger();
  logEvents(inbox, logger, { clock: tier.clock });
  return lines;
}

describe('a receiver without workers', () => {
  it('raises and logs the stall when no worker runs, and its end', async () => {
    const receiver = tier.addReceiver();
    const lines = logOf(receiver);
    await tier.send(receiver);
    await tier.pass(30_000, 500);
    expect(alarmsOf(receiver)).toEqual(['WBP_ALARM_STALLED']);
    const [alarm] = observe(receiver).read().alarms;
    expect(alarm?.message).toMatch(/^Deliveries are unfinished, and none has completed for \d+ s\.$/);
    tier.addWorker(() => 10);
    await tier.pass(60_000, 500);
    expect(alarmsOf(receiver)).toEqual([]);
    const logged = lines.map(({ fields }) => fields.event);
    expect(logged).toEqual(['stalled', 'alarm', 'recovered', 'alarm-cleared']);
  });

  it('raises the alarm of a store that fails, and clears it', async () => {
    const store = tier.store();
    const receiver = tier.addReceiver({ store });
    observe(receiver);
    const stats = vi.spyOn(store, 'stats').mockImplementation(() => {
      throw new Error('away');
    });
    await tier.pass(20_000, 500);
    expect(alarmsOf(receiver)).toEqual(['WBP_ALARM_STORE_FAILING']);
    stats.mockRestore();
    await tier.pass(60_000, 500);
    expect(alarmsOf(receiver)).toEqual([]);
  });

  it('answers with what has happened while the store is away', async () => {
    const store = tier.store();
    vi.spyOn(store, 'put').mockImplementation(() => {
      throw new Error('away');
    });
    const receiver = tier.addReceiver({ store });
    const answer = await tier.send(receiver);
    expect(answer?.status).toBe(503);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      reason: 'pressure',
      detail: 'The receiver is overloaded, or cannot verify or store deliveries at present.',
    });
    expect(Number(answer?.headers['Retry-After'])).toBeGreaterThanOrEqual(3);
    expect(Number(answer?.headers['Retry-After'])).toBeLessThanOrEqual(7);
  });

  it('has the figures of the store in its metrics, and none of workers', async () => {
    const receiver = tier.addReceiver();
    const reader = readMetrics(receiver);
    tier.addWorker(() => 100, { concurrency: 2, store: tier.storeWithEvents() });
    for (let at = 0; at < 100; at += 1) await tier.send(receiver);
    await tier.pass(5000);
    const value = (name: string): number => sumOf(reader, name);
    expect(value('webhook.inbox.depth')).toBe(receiver.snapshot().depth);
    expect(value('webhook.inbox.drain_rate')).toBeGreaterThan(15);
    expect(value('webhook.inbox.arrivals')).toBe(100);
    expect([value('webhook.inbox.concurrency'), value('webhook.inbox.started')]).toEqual([0, 0]);
  });
});

describe('workers without a receiver', () => {
  it('raise the stall when all of their handlers hang, although other workers go on', async () => {
    const receiver = tier.addReceiver();
    const hung = tier.addWorker(() => 86_000_000, { concurrency: 1, maxHandlingMs: 86_400_000 });
    const lines = logOf(hung);
    await tier.send(receiver);
    await tier.pass(6000, 500);
    expect(hung.snapshot().active).toBe(1);
    tier.addWorker(() => 10);
    await tier.pass(20_000, 100, () => void tier.send(receiver));
    expect(hung.snapshot().state).toBe('stalled');
    expect(alarmsOf(hung)).toEqual(['WBP_ALARM_STALLED']);
    expect(alarmsOf(receiver)).toEqual([]);
    expect(lines.map(({ fields }) => fields.event)).toEqual(['stalled', 'alarm']);
  });

  it('have their attempts in their metrics, and no arrivals', async () => {
    const receiver = tier.addReceiver();
    const worker = tier.addWorker(() => 10);
    const reader = readMetrics(worker);
    for (let at = 0; at < 20; at += 1) await tier.send(receiver);
    await tier.pass(6000);
    const value = (name: string): number => sumOf(reader, name);
    expect(value('webhook.inbox.started')).toBe(20);
    expect(value('webhook.inbox.completed')).toBe(20);
    expect([value('webhook.inbox.arrivals'), value('webhook.inbox.booked')]).toEqual([0, 0]);
  });
});

describe('a dashboard of both', () => {
  it('shows each with its role and its figures, and refuses an option of the other role', async () => {
    const receiver = tier.addReceiver();
    const worker = tier.addWorker(() => 10);
    const inboxes = { receiver, worker };
    const page = dashboard({ inboxes, authorize: false, allowUpdate: true, clock: tier.clock });
    for (let at = 0; at < 20; at += 1) await tier.send(receiver);
    await tier.pass(6000);
    const state = await stateOf(page);
    expect(state.inboxes['receiver']?.snapshot).toMatchObject({ role: 'receiver', totals: { stored: 20 } });
    expect(state.inboxes['worker']?.snapshot).toMatchObject({ role: 'worker', totals: { completed: 20 } });
    const update = (inbox: string, options: object): Promise<Response> =>
      page.fetch(post('update', { inbox, options }));
    expect((await update('receiver', { capacity: 7 })).status).toBe(200);
    expect(receiver.snapshot().capacity).toBe(7);
    expect((await update('worker', { concurrency: 3 })).status).toBe(200);
    expect(worker.snapshot().concurrency).toBe(3);
    for (const [inbox, options] of [
      ['receiver', { concurrency: 3 }],
      ['worker', { shed: { a: true } }],
    ] as const) {
      expect(await problemOf(await update(inbox, options))).toMatchObject({ code: 'ERR_WBP_ROLE' });
    }
    page.close();
  });
});
